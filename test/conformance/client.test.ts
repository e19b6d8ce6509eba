// CONFORM-02
// CLIENT-01 CLIENT-02 CLIENT-03 CLIENT-04 CLIENT-05 CLIENT-06 CLIENT-07 CLIENT-08 CLIENT-09 CLIENT-10
// CLIENT-11 CLIENT-12 CLIENT-13 CLIENT-14 CLIENT-15 CLIENT-16 CLIENT-17 CLIENT-18 CLIENT-19 CLIENT-20
// CLIENT-21 CLIENT-22 CLIENT-23 CLIENT-24 CLIENT-25 CLIENT-26 CLIENT-27 CLIENT-28 CLIENT-29
import { expect, test } from 'vitest';
import type { RunningClient } from '../../server/src/conformance/client-under-test.js';
import { clientRules } from '../../server/src/conformance/client-rules/index.js';
import { clientMutations } from './client-mutations.js';
import { judgeClient, judgeClientByAll, notPassed, verdicts } from './judging.js';
import { changing } from './mutating-proxy.js';
import { startPlainClient } from './plain-client.js';
import { startSdk } from './sdk-start.js';

/** A rule that no mutation touches: a broken client fails the rule that it breaks, not everything. */
const CONTROL = 'CLIENT-02';

test('the SDK passes every rule for clients', { timeout: 120_000 }, async () => {
  const outcomes = await judgeClientByAll(startSdk({ reconnect: { delayMs: 300 } }));
  expect(notPassed(outcomes)).toEqual([]);
  expect(outcomes).toHaveLength(clientRules.length);
});

test.concurrent.each(clientMutations)(
  'a client that breaks %s (it %s) fails that rule',
  { timeout: 60_000 },
  async (id, _what, mutate) => {
    const honest = await judgeClient(startSdk({ mutate: () => ({}) }), [id, CONTROL]);
    expect(notPassed(honest)).toEqual([]);
    const outcomes = await judgeClient(startSdk({ mutate }), [id, CONTROL]);
    expect(verdicts(outcomes)).toEqual({ [id]: 'failed', [CONTROL]: 'passed' });
  },
);

test('a client that comes back after 4409, and at once, fails CLIENT-25', async () => {
  const start = startSdk({ reconnect: { delayMs: 1 }, mutate: () => ({ closeCode: () => 1001 }) });
  expect(verdicts(await judgeClient(start, ['CLIENT-25']))).toEqual({ 'CLIENT-25': 'failed' });
});

test('a client that does not know session-closing fails CLIENT-28', async () => {
  const fromHub = changing(
    ({ action }) => action === 'session-closing',
    () => [],
  );
  const start = startSdk({ reconnect: { delayMs: 1 }, mutate: () => ({ fromHub }) });
  expect(verdicts(await judgeClient(start, ['CLIENT-28']))).toEqual({ 'CLIENT-28': 'failed' });
});

test('a client whose waits do not grow fails CLIENT-27', async () => {
  const start = startSdk({ reconnect: { delayMs: 1, maxDelayMs: 1 } });
  expect(verdicts(await judgeClient(start, ['CLIENT-27']))).toEqual({ 'CLIENT-27': 'failed' });
});

test('a client that logs in at the upgrade is judged like any other', { timeout: 60_000 }, async () => {
  const start = startPlainClient((url, token) => [url, { authorization: `Bearer ${token}` }]);
  const ids = ['CLIENT-01', 'CLIENT-02', 'CLIENT-03', 'CLIENT-04', 'CLIENT-09', 'CLIENT-13'];
  const outcomes = await judgeClient(start, ids);
  // it counts nothing and echoes everything
  expect(notPassed(outcomes).map(({ id }) => id)).toEqual(['CLIENT-09']);
  expect(outcomes).toHaveLength(ids.length);
});

test('a client that puts its token into the address fails CLIENT-01, and nothing else is tried', async () => {
  const start = startPlainClient((url, token) => [`${url}?token=${token}`, {}]);
  expect(await judgeClient(start, ['CLIENT-11'])).toMatchObject([
    { id: 'CLIENT-01', outcome: 'failed', expected: 'an address without the token' },
    { id: 'CLIENT-11', outcome: 'skipped', reason: 'CLIENT-01 does not hold' },
  ]);
});

test('a client that ends before it connects fails CLIENT-01 with what it said', async () => {
  const start = (): RunningClient => ({
    ending: 'the end of the client (exit code 7)',
    output: 'no such module',
    [Symbol.asyncDispose]: async () => undefined,
  });
  const [first] = await judgeClient(start, ['CLIENT-01']);
  const received = 'the end of the client (exit code 7); the client wrote: no such module';
  expect(first).toMatchObject({ outcome: 'failed', expected: 'a connection of the client', received });
});
