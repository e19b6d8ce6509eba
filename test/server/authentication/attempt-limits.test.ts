import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addressKey } from '../../../server/src/authentication/address-key.js';
import { AttemptLimits } from '../../../server/src/authentication/attempt-limits.js';
import { refusalOf } from './fixtures.js';

const MINUTE = 60_000;
const limited = { code: 'rate-limited', message: 'too many attempts to log in' };

const limitsOf = (perUser: number, perAddress: number): AttemptLimits =>
  new AttemptLimits({ maxAttemptsPerUser: perUser, maxAttemptsPerAddress: perAddress });

async function fail(limits: AttemptLimits, username: string, address: string): Promise<void> {
  await (await limits.startPassword(username, address)).settle(true);
}

async function succeed(limits: AttemptLimits, username: string, address: string): Promise<void> {
  await (await limits.startPassword(username, address)).settle(false);
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('failures of one user name use up its budget, from whatever address, for a minute', async () => {
  using limits = limitsOf(2, 100);
  await fail(limits, 'ann', '10.0.0.1');
  vi.advanceTimersByTime(10_000);
  await fail(limits, 'ann', '10.0.0.2');

  const refused = await refusalOf(limits.startPassword('ann', '10.0.0.3'));
  expect(refused).toMatchObject({ ...limited, retryAfterMs: 50_000 });
  await succeed(limits, 'bob', '10.0.0.3');
  vi.advanceTimersByTime(49_999);
  await refusalOf(limits.startPassword('ann', '10.0.0.3'));
  vi.advanceTimersByTime(1);
  await succeed(limits, 'ann', '10.0.0.3');
});

test('failures from one address use up its budget, for whatever user name', async () => {
  using limits = limitsOf(10, 2);
  await fail(limits, 'ann', '10.0.0.1');
  await fail(limits, 'bob', '10.0.0.1');
  expect(await refusalOf(limits.startPassword('cat', '10.0.0.1'))).toMatchObject({
    ...limited,
    retryAfterMs: MINUTE,
  });
  expect(await refusalOf(limits.checkToken('10.0.0.1'))).toMatchObject(limited);
  await succeed(limits, 'cat', '10.0.0.2');
});

test('what the address refuses costs the user name nothing, and the other way round', async () => {
  using limits = limitsOf(1, 2);
  await fail(limits, 'ann', '10.0.0.1');
  for (let n = 0; n < 100; n += 1) await refusalOf(limits.startPassword('ann', '10.0.0.1'));
  await fail(limits, 'bob', '10.0.0.1');
  for (let n = 0; n < 100; n += 1) await refusalOf(limits.startPassword('cat', '10.0.0.1'));
  await succeed(limits, 'cat', '10.0.0.2');
});

test('a success gives back its own points and no others', async () => {
  using limits = limitsOf(2, 2);
  await fail(limits, 'ann', '10.0.0.1');
  for (let n = 0; n < 50; n += 1) await succeed(limits, 'ann', '10.0.0.1');
  await fail(limits, 'ann', '10.0.0.1');
  expect(await refusalOf(limits.startPassword('ann', '10.0.0.1'))).toMatchObject(limited);
});

test('attempts side by side cannot slip through', async () => {
  using limits = limitsOf(3, 100);
  const started = await Promise.allSettled(
    Array.from({ length: 20 }, () => limits.startPassword('ann', '10.0.0.1')),
  );
  expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
});

test('who is refused because others are being checked may try again soon; after failures it takes the minute', async () => {
  using limits = limitsOf(2, 100);
  const first = await limits.startPassword('ann', '10.0.0.1');
  const second = await limits.startPassword('ann', '10.0.0.1');
  expect(await refusalOf(limits.startPassword('ann', '10.0.0.1'))).toMatchObject({ retryAfterMs: 1_000 });

  await first.settle(false);
  await second.settle(true);
  await fail(limits, 'ann', '10.0.0.1');
  expect(await refusalOf(limits.startPassword('ann', '10.0.0.1'))).toMatchObject({ retryAfterMs: MINUTE });
});

test('an attempt that outlives its minute gives nothing back to the next', async () => {
  using limits = limitsOf(1, 100);
  const late = await limits.startPassword('ann', '10.0.0.1');
  vi.advanceTimersByTime(MINUTE);
  await fail(limits, 'ann', '10.0.0.1');
  await late.settle(false);
  await refusalOf(limits.startPassword('ann', '10.0.0.1'));
  vi.advanceTimersByTime(MINUTE);
  await fail(limits, 'ann', '10.0.0.1');
  await refusalOf(limits.startPassword('ann', '10.0.0.1'));
});

test('refused tokens count for the address alone; accepted ones, however many at once, cost nothing', async () => {
  using limits = limitsOf(1, 3);
  await Promise.all(Array.from({ length: 1_000 }, async () => limits.checkToken('10.0.0.1')));
  for (let n = 0; n < 3; n += 1) await limits.spendToken('10.0.0.1');
  expect(await refusalOf(limits.checkToken('10.0.0.1'))).toMatchObject({ ...limited, retryAfterMs: MINUTE });
  await limits.checkToken('10.0.0.2');
  await succeed(limits, 'ann', '10.0.0.2');
  vi.advanceTimersByTime(MINUTE);
  await limits.checkToken('10.0.0.1');
});

test('a token of an address that has failed nothing for a minute may be checked at once, others after a look', async () => {
  using limits = limitsOf(10, 3);
  expect(limits.checkToken('10.0.0.1')).toBeUndefined();
  await limits.spendToken('10.0.0.1');
  expect(limits.checkToken('10.0.0.1')).toBeInstanceOf(Promise);
  expect(limits.checkToken('10.0.0.2')).toBeUndefined();
  vi.advanceTimersByTime(MINUTE + 1);
  await limits.spendToken('10.0.0.3');
  expect(limits.checkToken('10.0.0.1')).toBeUndefined();
});

test('nothing is left of a minute that is over, and no timer after closing', async () => {
  const limits = limitsOf(10, 100);
  for (let n = 0; n < 50; n += 1) await fail(limits, `user-${n}`, `10.0.0.${n}`);
  expect(vi.getTimerCount()).toBe(100);
  vi.advanceTimersByTime(MINUTE);
  expect(vi.getTimerCount()).toBe(0);

  await fail(limits, 'ann', '10.0.0.1');
  const open = await limits.startPassword('bob', '10.0.0.1');
  limits[Symbol.dispose]();
  await open.settle(false);
  await limits.spendToken('10.0.0.1');
  limits[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
  ['unknown', 'unknown'],
])('the address %s counts as %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
