import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.js';
import { startTestHub } from '../../../support/hub.js';
import { refuse, stall, startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { wires } from './wires.js';

const cases = wires.flatMap((wire) => [
  {
    ...wire,
    when: 'waits for a retry',
    response: refuse(429, wire.refusal('x'), { 'retry-after': '30' }),
    cut: 0,
  },
  { ...wire, when: 'waits for an answer', response: () => undefined, cut: 1 },
  { ...wire, when: 'reads an answer', response: stall(wire.begun), cut: 1 },
]);

test.each(cases)(
  'K079: $provider: run-cancel ends a run that $when within a second, and its request',
  async ({ config, call, response, cut }) => {
    await using server = await startModelServer([stream(call('f', '{}')), response]);
    await using hub = await startTestHub({ agents: [{ id: 'a', name: 'A', model: config(server, 60_000) }] });
    await using session = await connect(hub.url, { token: await hub.token() });
    await session.serve('x', { f: { handler: () => 1 } });
    const run = await session.prompt('a', 'go', { remotes: ['x'] });
    await eventually(() => server.requests.length === 2, 'the second step has begun');

    const cancelledAt = performance.now();
    await run.cancel();
    const { status, code } = await run.result;

    expect(performance.now() - cancelledAt).toBeLessThan(1_000);
    expect({ status, code }).toEqual({ status: 'cancelled', code: 'cancelled' });
    await eventually(() => server.aborted.count === cut, 'the request is ended');
    expect(server.requests).toHaveLength(2);
  },
);
