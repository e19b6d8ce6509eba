import { expect, test } from 'vitest';
import { redisNote, redisPath } from '../support/redis.js';
import { runFaults } from './faults/run-faults.js';

test.skipIf(redisPath === undefined)(
  `calls end once, and everything is served again, after the death of a node and of all that Redis knew${redisNote}`,
  { timeout: 90_000 },
  async () => {
    const report = await runFaults({ names: ['kill-node', 'empty-redis'], leaseMs: 2_000 });
    expect(report.problems).toEqual([]);
    expect(report.faults).toHaveLength(2);
    expect(report.results).toBeGreaterThan(500);
  },
);
