import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Anthropic } from '@anthropic-ai/sdk';
import { expect, test, vi } from 'vitest';
import { AnthropicModel, anthropicPackage } from '../../../../server/src/agents/models/anthropic.js';
import { fakeClock, type FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { event, messageStart } from '../../../support/model-servers/anthropic-wire.js';
import {
  breakOff,
  refuse,
  stall,
  startModelServer,
  stream,
} from '../../../support/model-servers/scripted-server.js';
import { ask, hello, textOf } from './adapter.js';
import { helloStream, KEY, modelAt, refusal } from './anthropic-fixtures.js';

const begun =
  messageStart() + event('content_block_start', { index: 0, content_block: { type: 'text', text: 'Hel' } });

/** Moves time on until something holds. @returns how many milliseconds it took at most */
async function advanceUntil(clock: FakeClock, holds: () => boolean): Promise<number> {
  let ms = 0;
  await eventually(() => {
    if (holds()) return true;
    ms += 100;
    void clock.advance(100);
    return false;
  }, 'time brings it about');
  return ms;
}

test('K079: 429, then 529, then success: the waits are what retry-after says, and the answer comes', async () => {
  using clock = fakeClock();
  await using server = await startModelServer([
    refuse(429, refusal('rate_limit_error'), { 'retry-after': '2' }),
    refuse(529, refusal('overloaded_error'), { 'retry-after': '4' }),
    stream(helloStream),
  ]);
  const step = ask(await modelAt(server, 60_000));

  await eventually(() => server.requests.length === 1, 'the first request has come');
  expect(await advanceUntil(clock, () => server.requests.length === 2)).toBeGreaterThanOrEqual(2_000);
  expect(await advanceUntil(clock, () => server.requests.length === 3)).toBeGreaterThanOrEqual(4_000);

  expect(textOf(await step)).toBe('Hello');
});

test.each([
  [
    'an error',
    stream(begun + event('error', { error: { type: 'overloaded_error', message: `boom ${KEY}` } })),
  ],
  ['a connection that breaks', breakOff(begun)],
  ['an event that is no JSON', stream(`${begun}event: message_delta\ndata: {"type":"mess\n\n`)],
  ['an event that is no object', stream(`${begun}event: message_delta\ndata: null\n\n`)],
])('%s in mid-stream fails the step, once and in plain words', async (_, response) => {
  await using server = await startModelServer([response]);

  await expect(ask(await modelAt(server))).rejects.toMatchObject({
    name: 'ModelError',
    message: 'the model provider anthropic failed in the middle of its answer',
  });
  expect(server.requests).toHaveLength(1);
});

test('a server that is not there cannot be reached', async () => {
  using clock = fakeClock();
  const server = await startModelServer([]);
  const model = await modelAt(server, 60_000);
  await server[Symbol.asyncDispose]();
  const outcome = vi.fn<(error: unknown) => void>();
  const step = ask(model).catch(outcome);

  await advanceUntil(clock, () => outcome.mock.calls.length === 1);
  await step;

  expect(outcome.mock.lastCall?.[0]).toMatchObject({
    message: 'the model provider anthropic cannot be reached',
  });
});

test.each([
  ['before the answer', () => undefined],
  ['in mid-stream', stall(begun)],
])('a stall %s ends at the deadline of the step, and so does its request', async (_, response) => {
  await using server = await startModelServer([response]);

  await expect(ask(await modelAt(server, 150))).rejects.toMatchObject({
    message: 'the model provider anthropic did not answer in time',
  });
  await eventually(() => server.aborted.count === 1, 'the request is ended');
});

test('a stall ends at the deadline although memory is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await using server = await startModelServer([stall(begun)]);

  const step = ask(await modelAt(server, 300)).catch((error: unknown) => error);
  await eventually(() => server.requests.length === 1, 'the request has come');
  for (let round = 0; round < 5; round += 1) {
    await delay(10); // lets what only a turn of the loop held be collected
    collect();
  }

  expect(await step).toMatchObject({ message: 'the model provider anthropic did not answer in time' });
});

test.each([
  ['before the answer', () => undefined],
  ['in mid-stream', stall(begun)],
])('an abort %s ends the request at once', async (_, response) => {
  await using server = await startModelServer([response]);
  const controller = new AbortController();
  const step = ask(await modelAt(server), hello, [], controller.signal).catch(() => undefined);

  await eventually(() => server.requests.length === 1, 'the request has come');
  controller.abort();

  await step;
  await eventually(() => server.aborted.count === 1, 'the request is ended');
});

test('a consumer that has enough ends the request', async () => {
  await using server = await startModelServer([stall(begun)]);
  const { signal } = new AbortController();

  for await (const part of (await modelAt(server)).stream({ messages: hello, tools: [], signal })) {
    expect(part).toEqual({ type: 'text', text: 'Hel' });
    break;
  }

  await eventually(() => server.aborted.count === 1, 'the request is ended');
});

const config = {
  provider: 'anthropic',
  model: 'm',
  apiKey: 'env:KEY',
  maxOutputTokens: 9,
  stepTimeoutMs: 1_000,
} as const;

test('the configuration alone says where the key is sent: an address in the environment does not count', async () => {
  vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9');
  try {
    const made: Anthropic[] = [];
    class RecordedClient extends Anthropic {
      constructor(options: ConstructorParameters<typeof Anthropic>[0]) {
        super(options);
        made.push(this);
      }
    }
    await AnthropicModel.create(config, KEY, {
      ...anthropicPackage,
      load: async () => ({ ...(await import('@anthropic-ai/sdk')), Anthropic: RecordedClient }),
    });

    expect(made.map(({ baseURL }) => baseURL)).toEqual(['https://api.anthropic.com']);
  } finally {
    vi.unstubAllEnvs();
  }
});
