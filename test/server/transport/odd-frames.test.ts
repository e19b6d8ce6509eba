import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

const malformed = 'malformed-message';

test.each([
  ['null', malformed],
  ['5', malformed],
  ['"x"', malformed],
  ['[]', malformed],
  ['{}', malformed],
  ['', malformed],
  ['{"action":7}', malformed],
  ['{"action":"remote-call","body":null}', 'invalid-body'],
  ['{"action":{"toString":"ping"}}', malformed],
  ['{"action":"ping","body":', malformed],
  ['{"action":"remote-connect","body":{"remotename":"__proto__","tools":{}}}', 'invalid-body'],
  ['{"action":"remote-list","__proto__":null,"constructor":7,"body":"x"}', undefined],
  ['\u0000', malformed],
  ['{"action":"hasOwnProperty"}', 'unknown-action'],
])('K028: %j gets one reply, and the session stays usable', async (text, code) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send(text);
  const reply = await session.next();
  expect(reply['code']).toBe(code);
  expect('nonce' in reply).toBe(false);
  expect(await session.request('remote-list')).toEqual({ remotes: [], nonce: 't1' });
  expect(session.frames).toHaveLength(3);
});

test('K028: a binary frame that holds a good request gets one error reply and is not carried out', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const request = { action: 'remote-connect', nonce: 1, body: { remotename: 'x', tools: [] } };
  session.socket.send(Buffer.from(JSON.stringify(request)), { binary: true });
  expect(await session.next()).toEqual({ error: 'binary frame: messages are text', code: malformed });
  expect(await session.remotes()).toEqual([]);
});

test('K028: the nonce is echoed wherever one can be read', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send('{"action":7,"nonce":"a"}');
  session.send('{"nonce":"b"}');
  session.send('{"action":"remote-call","nonce":"c","body":null}');
  session.send(`{"action":"ping","nonce":"d","x":${'['.repeat(200)}${']'.repeat(200)}}`);
  expect(await session.reply('a')).toMatchObject({ code: malformed });
  expect(await session.reply('b')).toMatchObject({ code: malformed });
  expect(await session.reply('c')).toMatchObject({ code: 'invalid-body', executed: 'no', retryable: false });
  expect(await session.reply('d')).toMatchObject({ code: malformed });
});

test('K028: the text of a refusal is bounded, whatever was sent', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const name = 'k'.repeat(500_000);
  session.send({ action: 'remote-connect', nonce: 1, body: { remotename: name, tools: [{ [name]: name }] } });
  session.send({ action: name, nonce: 2 });
  session.send({ action: 'authenticate', nonce: 3, body: { token: name } });
  session.send({ action: 'remote-disconnect', nonce: 4, body: { remotename: name } });
  for (const nonce of [1, 2, 3, 4]) {
    expect(String((await session.reply(nonce))['error']).length).toBeLessThanOrEqual(1_000);
  }
});

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test('K027: a message of 128 levels is taken, one of 129 is refused with its nonce', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  const call = (nonce: number, depth: number): void =>
    session.send(
      `{"action":"remote-call","nonce":${nonce},"body":{"remotename":"x","function":"f","args":{"a":${nested(depth)}}}}`,
    );
  call(1, 125);
  expect(await session.next('remote-call')).toMatchObject({ requestId: 'x#0' });
  call(2, 126);
  expect(await session.reply(2)).toEqual({
    error: 'the message is nested deeper than 128 levels',
    code: malformed,
    executed: 'no',
    retryable: false,
    nonce: 2,
  });
  session.send(`{"action":"remote-call-result","requestId":"x#0","result":${nested(127)}}`);
  expect(await session.reply(1)).toHaveProperty('result', expect.any(Array));
});

test('K027: arguments and a result 10,000 deep end as errors at once, and brackets in strings count for nothing', async () => {
  await using hub = await startTestHub();
  const serving = await hub.connect();
  const caller = await hub.connect();
  await serving.serve('x', ['f']);
  caller.send(
    `{"body":{"remotename":"x","function":"f","args":{"a":${nested(10_000)}}},"nonce":"deep","action":"remote-call"}`,
  );
  expect(await caller.reply('deep')).toMatchObject({ code: malformed, executed: 'no' });

  const reply = caller.call('x', 'f', { text: nested(10_000) });
  expect(await serving.next('remote-call')).toMatchObject({
    requestId: 'x#0',
    args: { text: nested(10_000) },
  });
  serving.send(`{"action":"remote-call-result","requestId":"x#0","result":${nested(10_000)}}`);
  expect(await reply).toMatchObject({
    error: 'the result is nested deeper than 128 levels',
    code: 'invalid-result',
    executed: 'yes',
    retryable: false,
  });
  await serving.settle();
  await hub.idle(2);
});

test.each([
  ['2,000,000 opening brackets', '['.repeat(2_000_000)],
  ['a body that never ends', `{"action":"ping","body":${'{"a":'.repeat(800_000)}`],
  ['2,000,000 closing brackets', `{"action":"ping"${'}'.repeat(2_000_000)}`],
  ['4 MB of backslashes in a name', `{"${'\\'.repeat(4_000_000)}":1}`],
  ['4 MB of quotes', '"'.repeat(4_000_000)],
  ['4 MB of members', `{${'"":0,'.repeat(800_000)}"action":"nope"}`],
])('K027, K028: %s are answered at once', async (_what, text) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const started = performance.now();
  session.send(text);
  expect(await session.next()).toHaveProperty('error', expect.any(String));
  expect(performance.now() - started).toBeLessThan(2_000);
  await session.settle();
});
