import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { APIConnectionError, APIConnectionTimeoutError } from 'openai';
import { expect, test } from 'vitest';
import { readModelStep } from '../../../../server/src/agents/model-step.js';
import { modelErrorOf, stepSignal } from '../../../../server/src/agents/models/provider-client.js';
import { chunk, done, start, textStream, toolDelta } from '../../../support/model-servers/openai-wire.js';
import {
  breakOff,
  refuse,
  stall,
  startModelServer,
  stream,
} from '../../../support/model-servers/scripted-server.js';
import { eventually } from '../../../support/eventually.js';
import { ask, hello, textOf } from './adapter.js';
import { f, KEY, modelAt } from './openai-fixtures.js';

const tooLate = {
  name: 'ModelError',
  message: 'the model provider openai-compatible did not answer in time',
};
const begun = chunk({ delta: { content: 'Hel' } });

test.each([{ 'retry-after': '0.05' }, { 'retry-after-ms': '50' }])(
  'K079: 429 and 529 are tried again after the time that the provider asks for: %o',
  async (header) => {
    await using server = await startModelServer([
      refuse(429, { error: { message: 'slow down' } }, header),
      refuse(529, { error: { message: 'overloaded' } }, header),
      stream(textStream('at last')),
    ]);
    const begin = performance.now();

    expect(textOf(await ask(await modelAt(server)))).toBe('at last');

    expect(server.requests).toHaveLength(3);
    expect(performance.now() - begin).toBeGreaterThan(95); // the client's own wait would be longer than 375 ms
    expect(server.requests[2]?.body).toEqual(server.requests[0]?.body);
  },
);

test.each([
  ['an error object', stream(`${begun}data: {"error":{"message":"boom ${KEY}"}}\n\n`)],
  ['an error event', stream(`${begun}event: error\ndata: {"error":{"message":"boom ${KEY}"}}\n\n`)],
  ['an error as the reason to finish', stream(`${begun}${chunk({ finish: 'error' })}${done}`)],
  ['a broken line', stream(`${begun}data: {"choices": [${KEY}\n\n${done}`)],
  ['a broken connection', breakOff(begun)],
])('%s in mid-stream fails the step, and it is not tried again', async (_what, answer) => {
  await using server = await startModelServer([answer]);

  const error: unknown = await ask(await modelAt(server)).catch((reason: unknown) => reason);

  expect(error).toMatchObject({
    name: 'ModelError',
    message: 'the model provider openai-compatible failed in the middle of its answer',
  });
  expect(error).not.toHaveProperty('cause'); // it may repeat the key
  expect(server.requests).toHaveLength(1);
});

test('a provider that cannot be reached or keeps silent is named so', () => {
  const { signal } = new AbortController();

  expect(modelErrorOf(new APIConnectionError({ message: KEY }), 'x', signal)).toMatchObject({
    message: 'the model provider x cannot be reached',
  });
  expect(modelErrorOf(new APIConnectionTimeoutError(), 'x', signal)).toMatchObject({
    message: 'the model provider x did not answer in time',
  });
});

test('a stall before and in mid-stream ends at the deadline of the step, and so does the request', async () => {
  await using server = await startModelServer([() => {}, stall(begun)]);
  const model = await modelAt(server, { stepTimeoutMs: 100 });

  await expect(ask(model)).rejects.toMatchObject(tooLate);
  await expect(ask(model)).rejects.toMatchObject(tooLate);

  await eventually(() => server.aborted.count === 2, 'both requests are ended');
});

test('K065: a call that stalls is not made: the step fails at its deadline', async () => {
  await using server = await startModelServer([stall(start + toolDelta(f('', { index: 0, id: 'a' })))]);
  const model = await modelAt(server, { stepTimeoutMs: 100 });
  const request = { messages: hello, tools: [], signal: new AbortController().signal };

  await expect(readModelStep(model, request, () => {})).rejects.toMatchObject(tooLate);
});

test('a deadline outlives garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let hasEnded = false;
  stepSignal(new AbortController().signal, 50).addEventListener('abort', () => (hasEnded = true));

  await eventually(() => {
    collectGarbage();
    return hasEnded;
  }, 'the deadline');
});

test('an abort in mid-stream ends the request', async () => {
  await using server = await startModelServer([stall(begun)]);
  const controller = new AbortController();
  const step = ask(await modelAt(server), hello, [], controller.signal);
  const outcome = step.catch((error: unknown) => error);

  await eventually(() => server.requests.length === 1, 'the request has come');
  controller.abort();

  expect(await outcome).toBeInstanceOf(Error);
  await eventually(() => server.aborted.count === 1, 'the request is ended');
});
