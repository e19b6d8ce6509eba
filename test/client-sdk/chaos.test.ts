import { expect, test } from 'vitest';
import { runChaos } from './chaos/chaos.js';

// `scripts/chaos` does the same for a minute
test('SDK-15: on a bad network every call ends, none runs twice, and every remote is served again', async () => {
  const report = await runChaos(4);

  expect(report.problems).toEqual([]);
  expect(report.results).toBeGreaterThan(100);
  expect(Object.keys(report.faults).length).toBeGreaterThan(3);
  expect(report.reconnects).toBeGreaterThan(5);
}, 60_000);
