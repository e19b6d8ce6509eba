import { expect, test } from 'vitest';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { Message, TestSession } from '../../support/session.js';

interface Pair {
  readonly server: TestSession;
  readonly caller: TestSession;
}

async function pairOf(hub: TestHub, result?: object): Promise<Pair> {
  const server = await hub.connect();
  const caller = await hub.connect();
  const tools = [{ name: 'f', ...(result && { result }) }];
  await server.request('remote-connect', { remotename: 'x', tools });
  return { server, caller };
}

/** Calls `x.f` and answers with these fields, as text or as an object. */
async function answered({ server, caller }: Pair, fields: object | string): Promise<Message> {
  const reply = caller.call('x', 'f');
  const { requestId } = await server.next('remote-call');
  const text = typeof fields === 'string' ? fields : JSON.stringify(fields).slice(1, -1);
  const separator = text === '' ? '' : ',';
  server.send(`{"action":"remote-call-result","requestId":${JSON.stringify(requestId)}${separator}${text}}`);
  const { nonce: _nonce, ...rest } = await reply;
  return rest;
}

const failed = { code: 'function-failed', executed: 'yes', retryable: false };

test('K038: falsy results are results', async () => {
  await using hub = await startTestHub();
  const pair = await pairOf(hub);
  for (const result of [0, '', false, null, [], {}, -0]) {
    expect(await answered(pair, { result })).toEqual({ result: result === 0 ? 0 : result });
  }
});

test('K039: every combination of result and error settles the call as specified', async () => {
  await using hub = await startTestHub();
  const pair = await pairOf(hub);
  const blank = 'the function failed without a message';
  const cases: [object | string, object][] = [
    [{ result: null, error: null }, { result: null }],
    [{ result: 1, error: null }, { result: 1 }],
    [{ error: '' }, { error: blank, ...failed }],
    [{ error: ' \n' }, { error: blank, ...failed }],
    [{}, { result: null }],
    [{ error: null }, { result: null }],
    [
      { result: 1, error: 'bad' },
      { error: 'bad', ...failed },
    ],
    [
      { error: 'bad', result: { fine: true } },
      { error: 'bad', ...failed },
    ],
    [{ result: 'x', executed: 'no' }, { result: 'x' }],
    [{ result: { error: 'inside' } }, { result: { error: 'inside' } }],
    ['"result":1,"result":2', { result: 2 }],
    ['"error":"bad","error":null,"result":3', { result: 3 }],
    ['"body":{"result":1}', { result: null }],
  ];
  for (const [fields, reply] of cases) expect(await answered(pair, fields)).toEqual(reply);
});

test('CALL-09: an error of the function fails the call as executed, unless the answer says otherwise', async () => {
  await using hub = await startTestHub();
  const pair = await pairOf(hub);

  expect(await answered(pair, { error: 'boom' })).toEqual({ error: 'boom', ...failed });
  for (const executed of ['no', 'yes', 'unknown']) {
    const reply = await answered(pair, { error: 'boom', executed });
    expect(reply).toEqual({ error: 'boom', code: 'function-failed', executed, retryable: false });
  }
  for (const executed of ['NO', null, false, 0, {}, '']) {
    expect(await answered(pair, { error: 'boom', executed })).toEqual({ error: 'boom', ...failed });
  }
});

test('CALL-10: an error that is not a string becomes its message or its JSON text, and long texts are cut', async () => {
  await using hub = await startTestHub();
  const pair = await pairOf(hub);
  const cases: [object | string, string][] = [
    [{ error: { message: 'told', stack: 'secret' } }, 'told'],
    [{ error: { message: 7, code: 1 } }, '{"message":7,"code":1}'],
    [{ error: { message: ' ' } }, 'the function failed without a message'],
    [{ error: 0 }, '0'],
    [{ error: false }, 'false'],
    [{ error: [] }, '[]'],
    [{ error: {} }, '{}'],
    ['"error":{"__proto__":{"message":"inherited"}}', '{"__proto__":{"message":"inherited"}}'],
    [{ error: 'x'.repeat(4_096) }, 'x'.repeat(4_096)],
    [{ error: 'x'.repeat(4_097) }, 'x'.repeat(4_096)],
    [{ error: { message: '€'.repeat(10_000) } }, '€'.repeat(4_096)],
    [{ error: `x${'😀'.repeat(3_000)}` }, `x${'😀'.repeat(3_000)}`.slice(0, 4_096)],
  ];
  for (const [fields, error] of cases) expect(await answered(pair, fields)).toEqual({ error, ...failed });
});

test('K030: the first answer counts, and unknown ids are ignored without a reply', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);
  const answer = (requestId: unknown, result: unknown): object => ({
    action: 'remote-call-result',
    nonce: 'never answered',
    requestId,
    result,
  });
  const ignoredBefore = hub.hub.counts().ignoredMessages;

  const reply = caller.call('x', 'f');
  await server.next('remote-call');
  const strangers = [
    'x#999',
    'nope',
    '',
    0,
    null,
    undefined,
    ['x#0'],
    { toString: 'x#0' },
    'X#0',
    'x#00',
    ' x#0',
  ];
  for (const id of strangers) server.send(answer(id, 'wrong'));
  server.sendTogether(answer('x#0', 1), answer('x#0', 2), { ...answer('x#0', 3), error: 'late' });
  expect(await reply).toMatchObject({ result: 1 });
  await server.settle();
  await caller.settle();
  expect([server, caller].flatMap(({ replies, others }) => [...replies, ...others])).toEqual([]);
  expect(hub.hub.counts().ignoredMessages - ignoredBefore).toBe(strangers.length + 2);
  expect(hub.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('K031: only the session that was asked can answer, of the same user as of another', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);
  const sibling = await hub.connect();
  const stranger = await hub.connect({ user: 'u2' });
  await sibling.serve('y', ['f']);
  await stranger.serve('x', ['f']);

  const reply = caller.call('x', 'f');
  const { requestId } = await server.next('remote-call');
  for (const spoofer of [sibling, stranger, caller]) {
    spoofer.send({ action: 'remote-call-result', requestId, result: 'spoof' });
    spoofer.send({ action: 'remote-call-result', requestId, error: 'spoof' });
    spoofer.send({ action: 'remote-call-progress', requestId, progress: 'spoof' });
    await spoofer.settle();
  }
  expect(caller.replies).toEqual([]);
  server.send({ action: 'remote-call-result', requestId, result: 'real' });
  expect(await reply).toMatchObject({ result: 'real' });
});

test('K033: a late answer to a call from before a reconnection never settles a newer call', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);

  const first = caller.call('x', 'f');
  const old = await server.next('remote-call');
  await server.request('remote-disconnect', { remotename: 'x' });
  expect(await first).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  await server.serve('x', ['f']);
  const second = caller.call('x', 'f');
  const young = await server.next('remote-call');
  expect(young['requestId']).not.toBe(old['requestId']);
  server.send({ action: 'remote-call-result', requestId: old['requestId'], result: 'old' });
  server.send({ action: 'remote-call-result', requestId: young['requestId'], result: 'new' });
  expect(await second).toMatchObject({ result: 'new' });
});

test('K048: a result above the frame limit fails its call, and the other calls of that session, at once', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);
  await server.serve('z', ['f']);

  const pending = [caller.call('x', 'f'), caller.call('z', 'f')];
  const { requestId } = await server.next('remote-call');
  const fields = { action: 'remote-call-result', requestId };
  const room = 4_194_304 - JSON.stringify({ ...fields, result: '' }).length;
  server.send({ ...fields, result: 'x'.repeat(room + 1) });
  for (const reply of await Promise.all(pending)) {
    expect(reply).toMatchObject({ code: 'remote-disconnected', executed: 'unknown', retryable: false });
  }
  expect((await server.end()).code).toBe(1009);
  await caller.settle();
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 0, pendingCalls: 0 });
});

test('K048: a result that just fits the frame limit arrives whole', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);

  const reply = caller.call('x', 'f');
  const { requestId } = await server.next('remote-call');
  const fields = { action: 'remote-call-result', requestId };
  const room = 4_194_304 - JSON.stringify({ ...fields, result: '' }).length;
  server.send({ ...fields, result: 'x'.repeat(room) });
  expect(String((await reply)['result'])).toHaveLength(room);
  expect(server.isOpen).toBe(true);
});

test('CALL-21: a result that does not fit its schema fails: invalid-result, executed yes', async () => {
  await using hub = await startTestHub();
  const result = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const pair = await pairOf(hub, result);
  const refused = { code: 'invalid-result', executed: 'yes', retryable: false };

  expect(await answered(pair, { result: { n: 1 } })).toEqual({ result: { n: 1 } });
  expect(await answered(pair, { result: { n: '1' } })).toEqual({
    error: 'result of f: /n: expected integer, received string',
    ...refused,
  });
  for (const fields of [{ result: null }, {}, { result: [] }, { result: {} }]) {
    expect(await answered(pair, fields)).toMatchObject(refused);
  }
  expect(await answered(pair, { error: 'bad' })).toEqual({ error: 'bad', ...failed }); // not checked
});

test('CALL-21: a result nested too deep for a message fails, one at the bound does not', async () => {
  await using hub = await startTestHub();
  const pair = await pairOf(hub);
  const nested = (levels: number): string => `"result":${'['.repeat(levels)}${']'.repeat(levels)}`;

  expect(await answered(pair, nested(127))).toHaveProperty('result');
  for (const levels of [128, 10_000, 1_000_000]) {
    expect(await answered(pair, nested(levels))).toEqual({
      error: 'the result is nested deeper than 128 levels',
      code: 'invalid-result',
      executed: 'yes',
      retryable: false,
    });
  }
  await pair.server.settle();
  expect(pair.server.others).toEqual([]);
});
