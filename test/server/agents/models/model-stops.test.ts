import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { startTestHub } from '../../../support/hub.js';
import { startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { wires } from './wires.js';

test.each(
  wires.flatMap((wire) => [
    { ...wire, reason: 'length' as const, finishReason: 'length' },
    { ...wire, reason: 'refusal' as const, finishReason: 'content-filter' },
  ]),
)(
  'RUN-13: on $provider a run whose answer stops early ($reason) completes with what was said, and says why',
  async ({ config, stopped, reason, finishReason }) => {
    await using server = await startModelServer([stream(stopped('Once upon', reason))]);
    await using hub = await startTestHub({ agents: [{ id: 'a', name: 'A', model: config(server, 10_000) }] });
    await using session = await connect(hub.url, { token: await hub.token() });

    const run = await session.prompt('a', 'Tell me a story.');

    expect(await run.result).toMatchObject({ status: 'completed', output: 'Once upon', finishReason });
  },
);
