import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { redisNote, redisPath } from '../support/redis.js';
import type { Message, TestSession } from '../support/session.js';
import { commandCounts, executedSince } from './command-counts.js';
import { startNodes, type NodesOptions } from './nodes.js';

const cluster = test.skipIf(redisPath === undefined);

/** A caller on one node and a session on another that serves functions of `x`. */
async function startPair(functions: readonly (string | object)[] = ['f'], options: NodesOptions = {}) {
  const nodes = await startNodes(options);
  const serving = await nodes.node(0).connect({ v1: true });
  const caller = await nodes.node(1).connect({ v1: true });
  const tools = functions.map((tool) => (typeof tool === 'string' ? { name: tool } : tool));
  expect(await serving.request('remote-connect', { remotename: 'x', tools })).not.toHaveProperty('error');
  return { nodes, serving, caller, [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose]() };
}

/** The raw frame with this start. */
function frameOf(session: TestSession, start: string): string | undefined {
  return session.frames.find((frame) => frame.startsWith(start));
}

const texts: Record<string, string> = {
  'numbers that no double holds': '{"n":9007199254740993,"big":1e400,"small":-1e-400,"zero":-0}',
  'numbers with their spelling': '{"a":1.50,"b":1.0,"c":1E+2,"d":0.1e-00}',
  'own __proto__ keys': '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}',
  'duplicate keys': '{"a":1,"a":2,"\\u0061":3,"2":0,"1":0}',
  'white space and newlines': '{ "a" :\t[ 1 ,\r\n 2 ,{ } , [ ]\n] }',
  'escapes and lone surrogates':
    '{"a":"\\u0041\\/\\u000a\\u2028\\"\\ud800","\\udc00":"é\u2028😀\ufeff\u007f"}',
  'a long text': `{"a":"${'é😀'.repeat(10_000)}"}`,
  'one MiB': `{"a":"${'x'.repeat(1024 * 1024)}","n":1e400}`,
};

cluster(`CALL-11: values travel over two nodes as they were written, both ways${redisNote}`, async () => {
  await using pair = await startPair();
  const { serving, caller } = pair;
  for (const [n, [what, text]] of Object.entries(texts).entries()) {
    caller.send(
      `{"action":"remote-call","nonce":${n},"body":{"function":"f","args":${text},"remotename":"x"}}`,
    );
    const { requestId } = await serving.next('remote-call');
    const start = `{"action":"remote-call","requestId":"x#${n}","function":"f","args":${text}`;
    expect(frameOf(serving, start) !== undefined, what).toBe(true);
    serving.send(`{"result":${text},"requestId":"${String(requestId)}","action":"remote-call-result"}`);
    await caller.reply(n);
    expect(caller.frames.at(-1) === `{"result":${text},"nonce":${n}}`, what).toBe(true);
  }
});

cluster('CLUSTER-13: calls with 4 MiB each, side by side, all arrive', async () => {
  await using pair = await startPair(['f'], { config: { limits: { callTimeoutMs: 10_000 } } });
  const text = 'x'.repeat(3_900_000);
  const replies = Array.from({ length: 6 }, async () => pair.caller.call('x', 'f', { text }));
  for (let n = 0; n < 6; n += 1) await pair.serving.answer(n);
  expect(new Set((await Promise.all(replies)).map(({ result }) => result))).toEqual(
    new Set([0, 1, 2, 3, 4, 5]),
  );
});

cluster('CLUSTER-13: 500 calls side by side over three nodes each get their own result', async () => {
  await using nodes = await startNodes({ count: 3 });
  const sessions = await Promise.all(nodes.all.map(async (hub) => hub.connect()));
  for (const [index, session] of sessions.entries()) {
    await session.serve(`r${index}`, ['f']);
    session.socket.on('message', (data: Buffer) => {
      const { action, requestId, args } = JSON.parse(data.toString()) as Message;
      if (action !== 'remote-call') return;
      const answer = { action: 'remote-call-result', requestId, result: { from: index, args } };
      setImmediate(() => session.send(answer));
    });
  }
  const replies = await Promise.all(
    Array.from({ length: 500 }, async (_, n) => sessions[n % 3]?.call(`r${(n * 7 + 1) % 3}`, 'f', { n })),
  );
  for (const [n, reply] of replies.entries()) {
    expect(reply).toMatchObject({ result: { from: (n * 7 + 1) % 3, args: { n } } });
  }
  for (const hub of nodes.all) await hub.idle(1);
});

cluster('CLUSTER-13: results in another order than the calls go to their callers', async () => {
  await using pair = await startPair();
  const { nodes, serving, caller } = pair;
  const other = await nodes.node(1).connect();
  const replies = Array.from({ length: 20 }, async (_, n) => (n % 2 ? caller : other).call('x', 'f', { n }));
  const calls: Message[] = [];
  for (let n = 0; n < 20; n += 1) calls.push(await serving.next('remote-call'));
  for (const { requestId, args } of calls.toReversed()) {
    serving.send({ action: 'remote-call-result', requestId, result: args });
  }
  for (const [n, reply] of (await Promise.all(replies)).entries())
    expect(reply).toMatchObject({ result: { n } });
});

cluster('CLUSTER-13: what a call is refused for on its own node it is refused for on another', async () => {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const functions = [{ name: 'f', parameters, result: { type: 'string' } }, { name: 'g' }];
  await using pair = await startPair(functions);
  const { nodes, serving, caller } = pair;
  const neighbour = await nodes.node(0).connect();
  for (const session of [neighbour, caller]) {
    expect(await session.call('x', 'f', { n: 'no' })).toMatchObject({
      code: 'invalid-arguments',
      error: 'arguments of f: /n: expected integer, received string',
      executed: 'no',
    });
    expect(await session.call('x', 'nope')).toMatchObject({
      code: 'function-not-found',
      error: "remote 'x' has no function 'nope'",
    });
    expect(await session.call('y', 'f')).toMatchObject({
      code: 'remote-not-connected',
      error: "no connected remote named 'y'",
      executed: 'no',
    });
    const result = session.call('x', 'f', { n: 1 });
    const { requestId } = await serving.answer(7);
    expect(await result).toMatchObject({ code: 'invalid-result', executed: 'yes', requestId });
    const failed = session.call('x', 'g');
    const call = await serving.next('remote-call');
    const failure = { error: 'no luck', executed: 'no' };
    serving.send({ action: 'remote-call-result', requestId: call['requestId'], ...failure });
    expect(await failed).toMatchObject({ ...failure, code: 'function-failed', requestId: call['requestId'] });
  }
  expect(serving.others).toEqual([]);
});

cluster('CLUSTER-13: a session that is asked too much, and one that asks too much, is told', async () => {
  const limits = { maxCallsInFlight: 3 };
  await using pair = await startPair(['f'], { config: { limits } });
  const { nodes, serving, caller } = pair;
  const other = await nodes.node(1).connect();
  const replies = [caller.call('x', 'f'), caller.call('x', 'f'), caller.call('x', 'f')];
  for (let n = 0; n < 3; n += 1) await serving.next('remote-call');
  expect(await caller.call('x', 'f')).toMatchObject({
    code: 'too-many-calls',
    error: 'this session has 3 unanswered calls, the most it may',
  });
  expect(await other.call('x', 'f')).toMatchObject({ code: 'too-many-calls', executed: 'no' });
  for (let n = 0; n < 3; n += 1) {
    serving.send({ action: 'remote-call-result', requestId: `x#${n}`, result: n });
  }
  expect(await Promise.all(replies)).toMatchObject([{ result: 0 }, { result: 1 }, { result: 2 }]);
  const next = other.call('x', 'f');
  await serving.answer('room');
  expect(await next).toMatchObject({ result: 'room' });
});

cluster(
  "CLUSTER-13: a function's timeout and a caller's hold over two nodes, and the serving session is told",
  async () => {
    await using pair = await startPair([{ name: 'slow', timeoutMs: 300 }, 'f']);
    const { serving, caller } = pair;
    const calls = [
      { name: 'slow', more: {}, timeoutMs: 300 },
      { name: 'slow', more: { timeoutMs: 200 }, timeoutMs: 200 },
      { name: 'f', more: { timeoutMs: 250 }, timeoutMs: 250 },
    ];
    for (const { name, more, timeoutMs } of calls) {
      const startedAt = performance.now();
      const reply = caller.call('x', name, {}, more);
      const { requestId, timeoutMs: told } = await serving.next('remote-call');
      expect(told).toBe(timeoutMs);
      expect(await reply).toMatchObject({
        code: 'call-timeout',
        error: `remote 'x' did not answer within ${timeoutMs} ms`,
        executed: 'unknown',
        requestId,
      });
      expect(performance.now() - startedAt).toBeGreaterThan(timeoutMs - 5);
      expect(await serving.next('remote-call-cancel')).toMatchObject({ requestId, reason: 'call-timeout' });
    }
  },
);

cluster('CLUSTER-13: a call is cancelled over two nodes, and progress comes before the result', async () => {
  await using pair = await startPair();
  const { serving, caller } = pair;
  caller.send({ action: 'remote-call', nonce: 'a', body: { remotename: 'x', function: 'f' } });
  const { requestId } = await serving.next('remote-call');
  for (let n = 0; n < 20; n += 1) serving.send({ action: 'remote-call-progress', requestId, progress: n });
  serving.send({ action: 'remote-call-result', requestId, result: 'end' });
  expect(await caller.reply('a')).toMatchObject({ result: 'end' });
  const told = caller.frames.filter((frame) => frame.includes('"progress"') || frame.includes('"result"'));
  expect(told.map((frame) => (JSON.parse(frame) as Message)['progress'])).toEqual([
    ...Array.from({ length: 20 }, (_, n) => n),
    undefined,
  ]);

  caller.send({ action: 'remote-call', nonce: 'b', body: { remotename: 'x', function: 'f' } });
  const second = await serving.next('remote-call');
  expect(await caller.request('remote-call-cancel', { nonce: 'b' })).toMatchObject({ cancelled: 1 });
  expect(await caller.reply('b')).toMatchObject({ code: 'call-cancelled', executed: 'unknown' });
  expect(await serving.next('remote-call-cancel')).toMatchObject({ requestId: second['requestId'] });
});

cluster('CLUSTER-13: a caller that goes takes its calls on other nodes with it', async () => {
  await using pair = await startPair();
  const { nodes, serving, caller } = pair;
  void caller.call('x', 'f').catch(() => undefined);
  const { requestId } = await serving.next('remote-call');
  caller.socket.terminate();
  expect(await serving.next('remote-call-cancel')).toMatchObject({ requestId, reason: 'caller-gone' });
  await eventually(() => nodes.node(0).hub.counts().pendingCalls === 0, 'nothing is pending');
});

cluster(
  'CLUSTER-13: calls within a node send nothing to Redis, calls over two nodes their messages alone',
  async () => {
    await using nodes = await startNodes({ leaseMs: 60_000 });
    const [serving, neighbour, far] = [
      await nodes.node(0).connect(),
      await nodes.node(0).connect(),
      await nodes.node(1).connect(),
    ];
    await serving.serve('x', ['f']);
    const callOnce = async (caller: TestSession): Promise<void> => {
      const reply = caller.call('x', 'f');
      await serving.answer(1);
      expect(await reply).toMatchObject({ result: 1 });
    };
    await callOnce(far); // finds the way
    const before = await commandCounts(nodes.redis);
    for (let n = 0; n < 30; n += 1) await callOnce(neighbour);
    expect(await executedSince(nodes.redis, before)).toEqual({});
    for (let n = 0; n < 30; n += 1) await callOnce(far);
    expect(await executedSince(nodes.redis, before)).toEqual({ spublish: 60, eval: 30 });
  },
);
