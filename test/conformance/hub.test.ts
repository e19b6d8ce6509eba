// CONFORM-01
import { expect, test } from 'vitest';
import { hubRules } from '../../server/src/conformance/hub-rules/index.js';
import { startTestHub } from '../support/hub.js';
import { hubMutations } from './hub-mutations.js';
import { judgeHub, notPassed, verdicts } from './judging.js';
import { startMutatingProxy } from './mutating-proxy.js';

/** A rule that no mutation touches: a broken hub fails the rule that it breaks, not everything. */
const CONTROL = 'AUTH-08';

test('this hub passes every rule for hubs, the slow ones too', { timeout: 120_000 }, async () => {
  await using hub = await startTestHub({
    agents: [{ id: 'a', name: 'A', model: { provider: 'offline' } }],
    limits: { heartbeatMs: 3_000, authenticationTimeoutMs: 2_000 },
  });
  const outcomes = await judgeHub({
    url: hub.socketUrl,
    token: await hub.token('u1'),
    otherToken: await hub.token('u2'),
    agent: 'a',
    includeSlow: true,
  });
  expect(notPassed(outcomes)).toEqual([]);
  expect(outcomes).toHaveLength(hubRules.length);
});

test('without a second user and an agent the rules about them are skipped, with the reason', async () => {
  await using hub = await startTestHub();
  const target = { url: hub.socketUrl, token: await hub.token() };
  const outcomes = await judgeHub(target, ['SESSION-03', 'RUN-05', 'K001']);
  expect(outcomes).toMatchObject([
    { id: 'SESSION-03', outcome: 'skipped', reason: 'only with --other-token' },
    { id: 'K001', outcome: 'skipped', reason: 'only with --slow' },
    { id: 'RUN-05', outcome: 'skipped', reason: 'only with --agent' },
  ]);
});

test.concurrent.each(hubMutations)(
  'a hub that breaks %s (it %s) fails that rule',
  { timeout: 60_000 },
  async (id, _what, mutate) => {
    await using hub = await startTestHub();
    await using honest = await startMutatingProxy(hub.socketUrl, () => ({}));
    await using broken = await startMutatingProxy(hub.socketUrl, mutate);
    const token = await hub.token();
    expect(notPassed(await judgeHub({ url: honest.url, token }, [id, CONTROL]))).toEqual([]);
    const outcomes = await judgeHub({ url: broken.url, token }, [id, CONTROL]);
    expect(verdicts(outcomes)).toEqual({ [id]: 'failed', [CONTROL]: 'passed' });
  },
);

test('a hub where nobody can log in fails AUTH-03 alone, and nothing else is tried', async () => {
  await using hub = await startTestHub();
  const outcomes = await judgeHub({ url: hub.socketUrl, token: 'wrong' }, ['WIRE-13', 'CALL-01']);
  expect(outcomes).toMatchObject([
    { id: 'AUTH-03', outcome: 'failed', expected: expect.stringContaining('login reply') as string },
    { id: 'WIRE-13', outcome: 'skipped', reason: 'AUTH-03 does not hold' },
    { id: 'CALL-01', outcome: 'skipped', reason: 'AUTH-03 does not hold' },
  ]);
});
