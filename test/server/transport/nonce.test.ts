import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

/** The text of the nonce, as the last member of a reply. */
function nonceText(frame: string | undefined): string | undefined {
  return frame === undefined ? undefined : /,"nonce":(.*)\}$/su.exec(frame)?.[1];
}

test.each([
  '0',
  '-0',
  '1.0',
  '1.50',
  '1E400',
  '9007199254740993',
  '""',
  '"\\u0041\\/"',
  '"é漢🙂"',
  '"\\ud800"',
  'null',
  'true',
  'false',
  '[]',
  '[ 1 , 2.0 ]',
  '{"a": 1}',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{\n\t"nonce" : "inner" }',
])(
  'WIRE-06, K045: the nonce %s comes back as the very text, in one reply, also of an error',
  async (nonce) => {
    await using hub = await startTestHub();
    const session = await hub.connect();
    session.send(`{"action":"remote-list","nonce": ${nonce} ,"body":{"nonce":"other"}}`);
    session.send(`{"nonce":${nonce},"action":"no such action"}`);
    session.send(`{"action":"remote-disconnect","nonce":\r\n${nonce}}`);
    await session.settle();
    const [, list, unknown, invalid, pong] = session.frames;
    expect(list).toBe(`{"remotes":[],"nonce":${nonce}}`);
    expect(nonceText(unknown)).toBe(nonce);
    expect(nonceText(invalid)).toBe(nonce);
    expect(pong).toBe('{"message":"pong","nonce":"t1"}');
  },
);

test('WIRE-06, K045: without a nonce there is a reply without one', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send({ action: 'remote-list' });
  session.send({ action: 'nope' });
  await session.settle();
  expect(session.frames.slice(1, 3)).toEqual([
    '{"remotes":[]}',
    `{"error":"unknown action 'nope'","code":"unknown-action"}`,
  ]);
});

test.each([
  ['256 ASCII bytes', `"${'n'.repeat(254)}"`],
  ['256 bytes in two-byte characters', `"${'é'.repeat(127)}"`],
  ['256 bytes in four-byte characters', `"${'🙂'.repeat(63)}ab"`],
  ['256 bytes of space within an object', `{${' '.repeat(254)}}`],
])('WIRE-07: a nonce of %s is echoed, one more byte is refused without it', async (_what, nonce) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send(`{"action":"ping","nonce":${nonce}}`);
  const longer = nonce.startsWith('{') ? nonce.replace('{', '{ ') : nonce.replace('"', '"x');
  session.send(`{"action":"remote-connect","nonce":${longer},"body":{"remotename":"x","tools":[]}}`);
  expect(await session.next()).toEqual({ error: 'nonce: longer than 256 bytes', code: 'malformed-message' });
  expect(nonceText(session.frames[1])).toBe(nonce);
  expect(await session.remotes()).toEqual([]);
});

test('WIRE-07: of two nonces the last one counts for the length too', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send(`{"action":"ping","nonce":"${'n'.repeat(300)}","nonce":1}`);
  expect(await session.reply(1)).toEqual({ message: 'pong', nonce: 1 });
  session.send(`{"action":"ping","nonce":1,"nonce":"${'n'.repeat(300)}"}`);
  expect(await session.next()).toMatchObject({ code: 'malformed-message' });
});

test('WIRE-07: a call with a nonce that is too long is not forwarded, and its reply says so', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  const nonce = 'n'.repeat(300);
  session.send({ action: 'remote-call', nonce, body: { remotename: 'x', function: 'f' } });
  expect(await session.next()).toMatchObject({ code: 'malformed-message' });
  await session.settle();
  expect(session.others).toEqual([]);
});

test('K045: calls that share a nonce are each answered with their own result, in either order', async () => {
  await using hub = await startTestHub();
  const serving = await hub.connect();
  const caller = await hub.connect();
  await serving.serve('x', ['f']);
  const call = (v: number): void =>
    caller.send({
      action: 'remote-call',
      nonce: 'n1',
      body: { remotename: 'x', function: 'f', args: { v } },
    });
  const answer = (requestId: unknown, result: string): void =>
    serving.send({ action: 'remote-call-result', requestId, result });

  call(1);
  call(2);
  const [first, second] = [await serving.next('remote-call'), await serving.next('remote-call')];
  answer(second['requestId'], 'two');
  expect(await caller.reply('n1')).toEqual({ result: 'two', nonce: 'n1' });
  answer(first['requestId'], 'one');
  expect(await caller.reply('n1')).toEqual({ result: 'one', nonce: 'n1' });
  call(3);
  answer((await serving.next('remote-call'))['requestId'], 'three');
  expect(await caller.reply('n1')).toEqual({ result: 'three', nonce: 'n1' });
  await caller.settle();
  expect(caller.replies).toEqual([]);
});
