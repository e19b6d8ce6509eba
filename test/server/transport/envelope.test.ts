import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

test.each([
  ['', 'the frame is not well-formed JSON'],
  [' ', 'the frame is not well-formed JSON'],
  ['{', 'the frame is not well-formed JSON'],
  ['{"action":"ping"', 'the frame is not well-formed JSON'],
  ['{"action":"ping"}}', 'the frame is not well-formed JSON'],
  ['{"action":"ping",}', 'the frame is not well-formed JSON'],
  ["{'action':'ping'}", 'the frame is not well-formed JSON'],
  ['\uFEFF{"action":"ping"}', 'the frame is not well-formed JSON'],
  ['\u00A0{"action":"ping"}', 'the frame is not well-formed JSON'],
  ['{"action":"ping"}{"action":"ping"}', 'the frame is not well-formed JSON'],
  ['{"action":"ping","x":NaN}', 'the frame is not well-formed JSON'],
  ['nul', 'the frame is not well-formed JSON'],
  ['null', 'the frame is JSON, but not an object'],
  ['5', 'the frame is JSON, but not an object'],
  ['-0.5e3', 'the frame is JSON, but not an object'],
  ['"x"', 'the frame is JSON, but not an object'],
  ['true', 'the frame is JSON, but not an object'],
  ['[]', 'the frame is JSON, but not an object'],
  ['\t[{"action":"ping"}]\r\n', 'the frame is JSON, but not an object'],
])('WIRE-01: %j is answered malformed-message, and the session lives on', async (text, error) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send(text);
  expect(await session.next()).toEqual({ error, code: 'malformed-message' });
  await session.settle();
  expect(session.frames).toHaveLength(3);
});

test.each([
  ['{}', { error: 'action: expected a string', code: 'malformed-message' }],
  ['{"action":7}', { error: 'action: expected a string', code: 'malformed-message' }],
  ['{"__proto__":{"action":"ping"}}', { error: 'action: expected a string', code: 'malformed-message' }],
  ['{"action":null,"nonce":1}', { error: 'action: expected a string', code: 'malformed-message', nonce: 1 }],
])('WIRE-01: an object without an action is malformed: %s', async (text, refusal) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send(text);
  session.send({ action: 'ping' });
  const first = 'nonce' in refusal ? await session.reply(refusal.nonce) : await session.next();
  expect(first).toEqual(refusal);
  expect(await session.next()).toEqual({ message: 'pong' });
});

test.each([
  'nope',
  '',
  'Ping',
  'ping ',
  'constructor',
  '__proto__',
  'toString',
  'session-opened',
  'agent_list',
  '\0',
])('WIRE-02: the unknown action %j is named in the error', async (action) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  expect(await session.request(action, { remotename: 'x' })).toEqual({
    error: `unknown action '${action}'`,
    code: 'unknown-action',
    nonce: 't1',
  });
  expect(await session.request('ping')).toEqual({ message: 'pong', nonce: 't2' });
});

test('WIRE-02: a very long action is named by its beginning', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const { error, code } = await session.request('a'.repeat(100_000));
  expect({ error, code }).toEqual({ error: `unknown action '${'a'.repeat(64)}'`, code: 'unknown-action' });
});

test.each([
  ['remote-connect', { remotename: 7, tools: [] }, 'body.remotename: expected string, received number'],
  ['remote-connect', undefined, 'body: expected object, received undefined'],
  ['remote-connect', null, 'body: expected object, received null'],
  ['remote-connect', [], 'body: expected object, received array'],
  ['remote-connect', { remotename: 'x' }, 'body.tools: expected array, received undefined'],
  [
    'remote-connect',
    { remotename: 'x', tools: [{}] },
    'body.tools[0].name: expected string, received undefined',
  ],
  ['remote-disconnect', { remotename: ['x'] }, 'body.remotename: expected string, received array'],
  ['remote-call', { remotename: 'x', function: true }, 'body.function: expected string, received boolean'],
  ['remote-call', { remotename: 'x', function: 'f', args: [] }, 'body.args: expected object, received array'],
  [
    'send-agent-prompt',
    { agentId: 'a', instruction: {} },
    'body.instruction: expected string, received object',
  ],
  ['run-cancel', {}, 'body.runId: expected string, received undefined'],
])('WIRE-03: %s with body %j is refused: %s', async (action, body, error) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const reply = await session.request(action, body);
  expect(reply).toMatchObject({ code: 'invalid-body', nonce: 't1' });
  expect(String(reply['error']).split('; ')).toContain(error);
  await session.settle();
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, pendingCalls: 0, runs: 0 });
});

test('WIRE-03: a body with a thousand faults is answered in one short text', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const tools = Array.from({ length: 1_000 }, () => ({ name: 1 }));
  const { error, code } = await session.request('remote-connect', { remotename: 'x', tools });
  expect(code).toBe('invalid-body');
  expect(String(error)).toMatch(
    /^body\.tools\[0\]\.name: expected string, received number; .*; and \d+ more$/u,
  );
  expect(String(error).length).toBeLessThan(1_001);
});

test('WIRE-04: fields that nobody knows are ignored, at the top and in the body', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send('{"type":"request","__proto__":1,"action":"ping","nonce":1,"body":[7],"then":{}}');
  expect(await session.reply(1)).toEqual({ message: 'pong', nonce: 1 });
  const body = { remotename: 'x', tools: [], extra: { tools: 7 }, toString: 1 };
  expect(await session.request('remote-connect', body)).toEqual({
    message: 'remote connected',
    remotename: 'x',
    nonce: 't1',
  });
  const [connected] = await session.remotes();
  expect(connected).toBe('x');
});

test('WIRE-04: of members with the same name the last one counts, escaped or not, at every place', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  session.send(
    String.raw`{"action":"remote-list","action":"ping","nonce":1,"body":{"remotename":"y"},"\u0061ction":"remote-call",` +
      String.raw`"nonce":2,"body":{"remotename":"y","function":"g","args":{"a":1},"remotename":"x",` +
      String.raw`"arg\u0073":{"a":2,"a":3},"function":"f"}}`,
  );
  const call = await session.next('remote-call');
  expect(session.frames.at(-1)).toBe(
    '{"action":"remote-call","requestId":"x#0","function":"f","args":{"a":2,"a":3}}',
  );
  session.send(
    `{"action":"remote-call-result","requestId":"?","result":1,"requestId":"${String(call['requestId'])}","result":2}`,
  );
  expect(await session.reply(2)).toEqual({ result: 2, nonce: 2 });
});

test('WIRE-04: a body that is repeated as something else is that other thing', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  session.send('{"action":"remote-call","nonce":1,"body":{"remotename":"x","function":"f"},"body":7}');
  expect(await session.reply(1)).toMatchObject({ code: 'invalid-body', executed: 'no' });
  session.send(
    '{"action":"remote-call","nonce":2,"body":{"args":{"a":1},"remotename":"x"},"body":{"remotename":"x","function":"f"}}',
  );
  expect(await session.next('remote-call')).toMatchObject({ args: {} });
});

test('WIRE-13: ping is answered with pong, with and without a nonce, whatever its body', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send({ action: 'ping' });
  expect(await session.next()).toEqual({ message: 'pong' });
  session.send({ action: 'ping', nonce: 'n', body: { x: 1 } });
  expect(await session.reply('n')).toEqual({ message: 'pong', nonce: 'n' });
});
