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
  const { nonce: _nonce, requestId: told, ...rest } = await reply;
  expect(told).toBe('error' in rest ? requestId : undefined);
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
