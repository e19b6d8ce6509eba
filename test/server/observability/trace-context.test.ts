import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { serving } from '../agents/hub-run-fixtures.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const tracestate = 'vendor=1,other="2"';

test('OBS-05: the trace context of a call is passed on as it came, after all other fields', async () => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  const caller = await hub.connect();
  void caller.call('x', 'f', {}, { timeoutMs: 1_000, traceparent, tracestate });

  await session.next('remote-call');
  expect(session.frames.at(-1)).toBe(
    `{"action":"remote-call","requestId":"x#0","function":"f","args":{},"timeoutMs":1000,"traceparent":"${traceparent}","tracestate":${JSON.stringify(tracestate)}}`,
  );
});

test('OBS-05: a serving session without remotes.v1 is sent the four fields and nothing of it', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  void session.call('x', 'f', {}, { traceparent, tracestate });
  expect(await session.next('remote-call')).toStrictEqual({
    action: 'remote-call',
    requestId: 'x#0',
    function: 'f',
    args: {},
  });
});

test('OBS-05: a call with long arguments keeps its trace context', async () => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  const args = { text: 'é'.repeat(40_000) };
  void session.call('x', 'f', args, { traceparent });
  expect(await session.next('remote-call')).toMatchObject({ args, traceparent });
});

test.each([
  ['another version', { traceparent: traceparent.replace('00', '01') }],
  ['upper case', { traceparent: traceparent.toUpperCase() }],
  ['a trace id of zeros', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }],
  ['a parent id of zeros', { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01` }],
  ['more after it', { traceparent: `${traceparent}-x` }],
  ['a line break after it', { traceparent: `${traceparent}\n` }],
  ['nothing', { traceparent: '' }],
  ['a number', { traceparent: 1 }],
  ['null', { traceparent: null, tracestate: null }],
  ['an object', { traceparent: { traceparent }, tracestate: [tracestate] }],
  ['a tracestate alone', { tracestate }],
])('OBS-06: %s is no trace context, and no error', async (_what, fields) => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  const reply = session.call('x', 'f', {}, fields);
  const forwarded = await session.answer(1);
  expect(Object.keys(forwarded)).toEqual(['action', 'requestId', 'function', 'args', 'timeoutMs']);
  expect(await reply).toMatchObject({ result: 1 });
});

test.each([
  ['too long', 'x'.repeat(513)],
  ['empty', ''],
  ['not ASCII', 'a=é'],
  ['with a line break', 'a=1\n'],
  ['a number', 7],
])('OBS-06: a tracestate that is %s is left out, its traceparent is not', async (_what, odd) => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  void session.call('x', 'f', {}, { traceparent, tracestate: odd });
  const forwarded = await session.next('remote-call');
  expect(forwarded).toMatchObject({ traceparent });
  expect(forwarded).not.toHaveProperty('tracestate');
});

test('OBS-05: the longest tracestate is passed on', async () => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  const longest = `a=${'x'.repeat(510)}`;
  void session.call('x', 'f', {}, { traceparent, tracestate: longest });
  expect(await session.next('remote-call')).toMatchObject({ traceparent, tracestate: longest });
});

test('OBS-05: the host program gives and gets the trace context of calls', async () => {
  await using hub = await startTestHub();
  hub.hub.connectRemote({
    userId: 'u1',
    remotename: 'x',
    functions: [{ name: 'f', handler: (_args, context) => [context.traceparent, context.tracestate] }],
  });
  const call = { userId: 'u1', remotename: 'x', function: 'f' };
  expect(await hub.hub.call({ ...call, traceparent, tracestate })).toEqual([traceparent, tracestate]);
  expect(await hub.hub.call({ ...call, traceparent: 'odd', tracestate })).toEqual([null, null]);
  expect(await hub.hub.call(call)).toEqual([null, null]);
});
