import { expect, test, vi } from 'vitest';
import { MAX_RETRIES, withRetries } from '../../../../server/src/agents/models/provider-retries.js';
import { fakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import {
  refuse,
  startModelServer,
  stream,
  type Answer,
} from '../../../support/model-servers/scripted-server.js';
import { ask, textOf } from './adapter.js';
import { wires } from './wires.js';

/** A refusal as the official clients throw it. */
function refusal(status: number, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error('refused'), { status, headers: new Headers(headers) });
}

/** Sends a request that fails like this, one failure after the other, and then is answered. */
function sending(failures: readonly unknown[], timeoutMs = 60_000) {
  const controller = new AbortController();
  const send = vi.fn<() => Promise<string>>(async () => {
    const failure = failures[send.mock.calls.length - 1];
    if (failure !== undefined) throw failure;
    return 'answer';
  });
  const outcome = withRetries(send, { signal: controller.signal, timeoutMs }).catch(
    (error: unknown) => error,
  );
  return { send, outcome, abort: (reason: Error) => controller.abort(reason) };
}

test('K079: a retry-after beyond the deadline fails at once, leaves no timer, and nothing is sent later', async () => {
  using clock = fakeClock();
  const error = refusal(429, { 'retry-after': '600' });
  const { send, outcome } = sending([error]);

  expect(await outcome).toBe(error);
  expect(vi.getTimerCount()).toBe(0);
  await clock.advance(700_000);

  expect(send).toHaveBeenCalledTimes(1);
});

test('K079: an abort ends the wait for a retry with its timer, and nothing is sent later', async () => {
  using clock = fakeClock();
  const { send, outcome, abort } = sending([refusal(429, { 'retry-after': '5' })]);
  await clock.advance(4_999);
  const reason = new Error('cancelled');
  abort(reason);

  expect(await outcome).toBe(reason);
  expect(vi.getTimerCount()).toBe(0);
  await clock.advance(60_000);

  expect(send).toHaveBeenCalledTimes(1);
});

test.each([
  ['seconds', { 'retry-after': '3' }, 3_000],
  ['a part of a second', { 'retry-after': '0.5' }, 500],
  ['milliseconds, which win', { 'retry-after': '9', 'retry-after-ms': '70' }, 70],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }, 3_000],
])('K079: the wait is what the provider asks for: %s', async (_, headers, ms) => {
  using clock = fakeClock(Date.UTC(2026, 0, 1));
  const { send, outcome } = sending([refusal(429, headers)]);

  await clock.advance(ms - 1);
  expect(send).toHaveBeenCalledTimes(1);
  await clock.advance(1);

  expect(await outcome).toBe('answer');
});

test.each([
  ['nothing', {}],
  ['no time', { 'retry-after': 'soon' }],
  ['no wait', { 'retry-after': '0' }],
  ['a time in the past', { 'retry-after': 'Thu, 01 Jan 2015 00:00:00 GMT' }],
])(
  'K079: a provider that asks for %s is asked again after waits that double, less a random part',
  async (_, headers) => {
    using clock = fakeClock();
    vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(1).mockReturnValueOnce(0);
    const { send, outcome } = sending([1, 2, 3].map(() => refusal(503, headers)));

    for (const [index, ms] of [500, 750, 2_000].entries()) {
      await clock.advance(ms - 1);
      expect(send).toHaveBeenCalledTimes(index + 1);
      await clock.advance(1);
    }

    expect(await outcome).toBe('answer');
  },
);

class APIConnectionError extends Error {}

const lasting: readonly (readonly [what: string, error: Error, requests: number])[] = [
  ...[408, 409, 429, 500, 502, 503, 529].map(
    (status) => [`${status}`, refusal(status), 1 + MAX_RETRIES] as const,
  ),
  ...[400, 401, 403, 404, 413, 422].map((status) => [`${status}`, refusal(status), 1] as const),
  ['no connection', new APIConnectionError(), 1 + MAX_RETRIES],
  ['any other fault', new Error('broken'), 1],
  ['400, said to pass', refusal(400, { 'x-should-retry': 'true' }), 1],
  ['429, said to last', refusal(429, { 'x-should-retry': 'false' }), 1],
];

test.each(lasting)('K079: what always fails with %s fails as that', async (_, error, requests) => {
  using clock = fakeClock();
  const { send, outcome } = sending(Array.from({ length: 9 }, () => error));

  await clock.advance(60_000);

  expect(await outcome).toBe(error);
  expect(send).toHaveBeenCalledTimes(requests);
});

test.each(wires)(
  'K079: $provider: a retry-after of ten minutes fails the step at once, with its cause',
  async ({ provider, modelAt, refusal: body }) => {
    await using server = await startModelServer([
      refuse(429, body('rate_limit_error'), { 'retry-after': '600' }),
    ]);

    await expect(ask(await modelAt(server, 60_000))).rejects.toMatchObject({
      name: 'ModelError',
      message: `the model provider ${provider} has received too many requests (429)`,
    });
    expect(server.requests).toHaveLength(1);
  },
);

test.each(wires)(
  'K079: $provider: the deadline of the step counts for all attempts together',
  async ({ provider, modelAt, refusal: body }) => {
    await using server = await startModelServer([
      refuse(429, body('rate_limit_error'), { 'retry-after': '0.02' }),
      () => undefined,
    ]);

    await expect(ask(await modelAt(server, 400))).rejects.toMatchObject({
      message: `the model provider ${provider} did not answer in time`,
    });
    await eventually(() => server.aborted.count === 1, 'the second request is ended');
    expect(server.requests).toHaveLength(2);
  },
);

const cut: Answer = (response) => void response.destroy();

test.each(wires)(
  'K079: $provider: a connection that is cut before the answer is tried again',
  async ({ modelAt, text }) => {
    await using server = await startModelServer([cut, stream(text('Hello'))]);

    expect(textOf(await ask(await modelAt(server, 10_000)))).toBe('Hello');
    expect(server.requests).toHaveLength(2);
  },
);
