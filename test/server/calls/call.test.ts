import { expect, test } from 'vitest';
import { onOneNode, startTestHub } from '../../support/hub.js';

test('CALL-01: a call is answered with the result and the nonce, and nothing else', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  await server.serve('x', ['f']);

  caller.send({
    action: 'remote-call',
    nonce: 'c1',
    body: { remotename: 'x', function: 'f', args: { a: 1 } },
  });
  await server.answer({ ok: true });
  expect(await caller.reply('c1')).toEqual({ result: { ok: true }, nonce: 'c1' });
  caller.send({ action: 'remote-call', body: { remotename: 'x', function: 'f' } });
  await server.answer(2);
  expect(await caller.next()).toEqual({ result: 2 });
});

test('CALL-02: a call to a remote that is not connected fails, and may be repeated', async () => {
  await using hub = await startTestHub();
  const stranger = await hub.connect({ user: 'u2' });
  const caller = await hub.connect();
  await stranger.serve('x', ['f']);

  caller.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f' } });
  expect(await caller.reply('c')).toEqual({
    error: "no connected remote named 'x'",
    code: 'remote-not-connected',
    executed: 'no',
    retryable: true,
    nonce: 'c',
  });
});

test('CALL-03: a call to a function that the remote lacks fails, and nothing is forwarded', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  await server.serve('x', ['f']);

  for (const name of ['g', 'F', 'f ', 'toString', '__proto__', 'x.f']) {
    expect(await server.call('x', name)).toMatchObject({
      error: `remote 'x' has no function '${name}'`,
      code: 'function-not-found',
      executed: 'no',
      retryable: false,
    });
  }
  expect(server.others).toEqual([]);
});

test('CALL-04: calls above the limit of the caller or of the serving session fail at once', async () => {
  await using hub = await startTestHub({ limits: { maxCallsInFlight: 2 } });
  const [first, second] = [await hub.connect(), await hub.connect()];
  const [caller, other] = [await hub.connect(), await hub.connect()];
  await first.serve('x', ['f']);
  await first.serve('y', ['f']);
  await second.serve('z', ['f']);
  const refusal = { code: 'too-many-calls', executed: 'no', retryable: true };

  const pending = [caller.call('x', 'f'), other.call('y', 'f')];
  const calls = [await first.next('remote-call'), await first.next('remote-call')];
  expect(await caller.call('y', 'f')).toMatchObject({
    ...refusal,
    error: "remote 'y' has 2 unanswered calls",
  });
  caller.send({ action: 'remote-call', body: { remotename: 'z', function: 'f' } });
  await second.next('remote-call');
  expect(await caller.call('z', 'f')).toMatchObject({
    ...refusal,
    error: 'this session has 2 unanswered calls, the most it may',
  });
  expect(hub.hub.counts().pendingCalls).toBe(3);

  for (const call of calls)
    first.send({ action: 'remote-call-result', requestId: call['requestId'], result: 1 });
  await Promise.all(pending);
  const again = caller.call('y', 'f');
  await first.answer('again');
  expect(await again).toMatchObject({ result: 'again' });
});

// on two nodes: a name that this node does not have is looked up, and the call is in flight until then
onOneNode('CALL-04: calls that were refused do not count as in flight', async () => {
  await using hub = await startTestHub({ limits: { maxCallsInFlight: 1 } });
  const server = await hub.connect();
  await server.serve('x', ['f']);
  const call = (nonce: string, remotename: string): object => ({
    action: 'remote-call',
    nonce,
    body: { remotename, function: 'f' },
  });

  server.sendTogether(call('a', 'nobody'), call('b', 'x'));
  expect(await server.reply('a')).toMatchObject({ code: 'remote-not-connected' });
  await server.answer('room');
  expect(await server.reply('b')).toMatchObject({ result: 'room' });
});

test('CALL-05: without remotes.v1 the forwarded call has exactly its four fields, and nothing else is sent', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect({ v1: true });
  await server.serve('x', ['f']);
  await server.settle();
  const before = server.frames.length;

  const reply = caller.call('x', 'f', { a: 1 }, { timeoutMs: 5_000 });
  await server.next('remote-call');
  await caller.request('remote-call-cancel', { nonce: 't1' });
  expect(await reply).toMatchObject({ code: 'call-cancelled' });
  await server.settle();
  expect(server.frames.slice(before, -1)).toEqual([
    '{"action":"remote-call","requestId":"x#0","function":"f","args":{"a":1}}',
  ]);
});

test.each([
  [undefined, 30_000],
  [1, 1],
  [600_000, 600_000],
])(
  'CALL-06: with remotes.v1 the forwarded call tells the time left: asked %s, told %s',
  async (timeoutMs, told) => {
    await using hub = await startTestHub();
    const server = await hub.connect({ v1: true });
    const caller = await hub.connect();
    await server.serve('x', ['f']);

    caller.send({
      action: 'remote-call',
      body: { remotename: 'x', function: 'f', args: { a: 1 }, timeoutMs },
    });
    expect(await server.next('remote-call')).toEqual({
      action: 'remote-call',
      requestId: 'x#0',
      function: 'f',
      args: { a: 1 },
      timeoutMs: told,
    });
  },
);

test('CALL-08: calls to one session run side by side and are answered in any order', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  await server.serve('x', ['f', 'hangs']);

  caller.send({ action: 'remote-call', body: { remotename: 'x', function: 'hangs' } });
  await server.next('remote-call');
  const replies = Array.from({ length: 100 }, async (_, n) => caller.call('x', 'f', { n }));
  const calls = [];
  for (let n = 0; n < 100; n += 1) calls.push(await server.next('remote-call'));
  expect(calls.map(({ args }) => args)).toEqual(calls.map((_, n) => ({ n }))); // forwarded in order
  for (const call of calls.toReversed()) {
    server.send({ action: 'remote-call-result', requestId: call['requestId'], result: call['args'] });
  }
  expect((await Promise.all(replies)).map(({ result }) => result)).toEqual(calls.map((_, n) => ({ n })));
  expect(hub.hub.counts().pendingCalls).toBe(1);
});

test('CALL-08: no call is forwarded before the reply to the connect of its remote', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();

  session.sendTogether(
    { action: 'remote-connect', nonce: 1, body: { remotename: 'x', tools: [{ name: 'f' }] } },
    { action: 'remote-call', nonce: 2, body: { remotename: 'x', function: 'f' } },
  );
  await session.answer('done');
  expect(await session.reply(2)).toMatchObject({ result: 'done' });
  const [connected, forwarded] = session.frames.filter((frame) => !frame.includes('"body"'));
  expect(connected).toContain('remote connected');
  expect(forwarded).toContain('x#0');
});

test('K050: absent args are forwarded as {}', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  await server.serve('x', ['f']);

  const reply = server.call('x', 'f');
  await server.answer('done');
  expect(server.frames).toContain('{"action":"remote-call","requestId":"x#0","function":"f","args":{}}');
  expect(await reply).toMatchObject({ result: 'done' });
});

test.each([
  [null, 'null'],
  ['[]', 'string'],
  [5, 'number'],
  [[1], 'array'],
  [[], 'array'],
  [true, 'boolean'],
  ['{}', 'string'],
])('K050: args that are %j are refused and nothing is forwarded', async (args, kind) => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  await server.serve('x', ['f']);

  server.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f', args } });
  expect(await server.reply('c')).toEqual({
    error: `body.args: expected object, received ${kind}`,
    code: 'invalid-body',
    executed: 'no',
    retryable: false,
    nonce: 'c',
  });
  await server.settle();
  expect(server.others).toEqual([]);
});

test.each([0, -1, 600_001, 1.5, '30', null])(
  'a timeoutMs of %j is refused and nothing is forwarded',
  async (timeoutMs) => {
    await using hub = await startTestHub();
    const server = await hub.connect();
    await server.serve('x', ['f']);

    const reply = await server.call('x', 'f', {}, { timeoutMs });
    expect(reply).toMatchObject({ code: 'invalid-body', executed: 'no', retryable: false });
    expect(reply['error']).toMatch(/^body\.timeoutMs: /u);
    expect(server.others).toEqual([]);
  },
);

test('K043: a served function may call its own session and others before it answers', async () => {
  await using hub = await startTestHub();
  const a = await hub.connect();
  const b = await hub.connect();
  await a.serve('x', ['f', 'g']);
  await b.serve('y', ['h']);

  const reply = b.call('x', 'f');
  const outer = await a.next('remote-call');
  const [inner, other] = [a.call('x', 'g'), a.call('y', 'h')];
  await a.answer('from g');
  await b.answer('from h');
  const results = [(await inner)['result'], (await other)['result']];
  a.send({ action: 'remote-call-result', requestId: outer['requestId'], result: results });
  expect(await reply).toMatchObject({ result: ['from g', 'from h'] });
  expect(hub.hub.counts().pendingCalls).toBe(0);
});
