import type { CallContext } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { startTestHub } from '../support/hub.js';
import { connect } from '@remotes-hub/client';
import { LoggedIn } from './scripted-hub.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const tracestate = 'vendor="1"';

/** What a handler is told of the trace of its call. */
const telling = { f: { handler: (_args: object, context: CallContext) => traceOf(context) } };

function traceOf({ traceparent: parent, tracestate: state }: CallContext): unknown[] {
  return [parent ?? 'none', state ?? 'none'];
}

test('OBS-09: the trace context of a call reaches its handler over the hub', async () => {
  await using hub = await startTestHub();
  await using session = await connect(hub.url, { token: await hub.token() });
  await session.serve('x', telling);
  expect(await session.call('x', 'f', {}, { traceparent, tracestate })).toEqual([traceparent, tracestate]);
  expect(await session.call('x', 'f', {}, { traceparent })).toEqual([traceparent, 'none']);
  expect(await session.call('x', 'f')).toEqual(['none', 'none']);
  expect(await session.remote('x', { traceparent })['f']?.()).toEqual([traceparent, 'none']);
});

test('OBS-09: a call is sent with its trace context, and without one as before', async () => {
  await using stage = await LoggedIn.start();
  const calls = [
    stage.client.call('x', 'f', { a: 1 }, { timeoutMs: 100, traceparent, tracestate }),
    stage.client.call('x', 'f', { a: 1 }, { traceparent: undefined, tracestate: undefined }),
  ];
  const common = { remotename: 'x', function: 'f', args: { a: 1 } };
  expect((await stage.hub.answer({ result: 1 }))['body']).toEqual({
    ...common,
    timeoutMs: 100,
    traceparent,
    tracestate,
  });
  expect((await stage.hub.answer({ result: 2 }))['body']).toEqual(common);
  expect(await Promise.all(calls)).toEqual([1, 2]);
});

test('OBS-09: what is no text is no trace context for a handler', async () => {
  await using stage = await LoggedIn.start();
  await stage.serve(telling);
  const call = { action: 'remote-call', requestId: 'x#0', function: 'f', args: {} };
  stage.hub.send({ ...call, traceparent: 1, tracestate: {} });
  expect(await stage.hub.next()).toMatchObject({ result: ['none', 'none'] });
});
