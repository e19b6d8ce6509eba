import { expect, test } from 'vitest';
import { PasswordChecks } from '../../../server/src/authentication/password-checks.js';
import {
  decoyHash,
  hashPassword,
  isPasswordHash,
  passwordCostOf,
  verifyPassword,
} from '../../../server/src/passwords/passwords.js';
import { lightCost, refusalOf } from './fixtures.js';

const SALT = 'A'.repeat(22);
const KEY = 'A'.repeat(43);

test('a hash names the cost of 32 MiB and fits its password alone', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(isPasswordHash(hash)).toBe(true);
  expect(await verifyPassword('correct horse', hash)).toBe(true);
  expect(await verifyPassword('correct horse ', hash)).toBe(false);
});

test('two hashes of one password differ', async () => {
  expect(await hashPassword('p', lightCost)).not.toBe(await hashPassword('p', lightCost));
});

test('a hash of another allowed cost is checked with that cost', async () => {
  const hash = await hashPassword('p', { ln: 11, r: 4, p: 2 });
  expect(passwordCostOf(hash)).toEqual({ ln: 11, r: 4, p: 2 });
  expect(await verifyPassword('p', hash)).toBe(true);
});

test('an accent composed in another way is the same password; case and width are not', async () => {
  const hash = await hashPassword('caf\u00e9', lightCost);
  expect(await verifyPassword('cafe\u0301', hash)).toBe(true);
  expect(await verifyPassword('Caf\u00e9', hash)).toBe(false);
  expect(await verifyPassword('\uff43af\u00e9', hash)).toBe(false);
});

test.each([
  ['nothing', ''],
  ['a plain password', 'secret'],
  ['another scheme', `$argon2id$ln=15,r=8,p=3$${SALT}$${KEY}`],
  ['128 GiB of memory', `$scrypt$ln=30,r=1,p=1$${SALT}$${KEY}`],
  ['256 MiB by the block size', `$scrypt$ln=15,r=64,p=1$${SALT}$${KEY}`],
  ['too much work', `$scrypt$ln=15,r=8,p=31$${SALT}$${KEY}`],
  ['too little work', `$scrypt$ln=9,r=8,p=3$${SALT}$${KEY}`],
  ['no parallelism', `$scrypt$ln=15,r=8,p=0$${SALT}$${KEY}`],
  ['a leading zero', `$scrypt$ln=015,r=8,p=3$${SALT}$${KEY}`],
  ['another order', `$scrypt$r=8,ln=15,p=3$${SALT}$${KEY}`],
  ['a short salt', `$scrypt$ln=15,r=8,p=3$AAAA$${KEY}`],
  ['an empty hash', `$scrypt$ln=15,r=8,p=3$${SALT}$`],
  ['a short hash', `$scrypt$ln=15,r=8,p=3$${SALT}$AAAA`],
  ['a long hash', `$scrypt$ln=15,r=8,p=3$${SALT}$${'A'.repeat(100)}`],
  ['padding', `$scrypt$ln=15,r=8,p=3$${SALT}==$${KEY}=`],
  ['stray bits', `$scrypt$ln=15,r=8,p=3$${SALT}$${'A'.repeat(42)}B`],
  ['a line end', `$scrypt$ln=15,r=8,p=3$${SALT}$${KEY}\n`],
])('%s is no hash', async (_what, text) => {
  expect(isPasswordHash(text)).toBe(false);
  const refused = verifyPassword('p', text);
  await expect(refused).rejects.toThrow(RangeError);
  await expect(refused).rejects.toThrow('not a password hash: expected $scrypt$ln=..,r=..,p=..$salt$hash');
});

test('a hash is not made with a cost that could not be checked', async () => {
  await expect(hashPassword('p', { ln: 20, r: 8, p: 1 })).rejects.toThrow('out of bounds');
});

test('a decoy has the cost asked for and fits no password', async () => {
  const decoy = decoyHash(lightCost);
  expect(passwordCostOf(decoy)).toEqual(lightCost);
  expect(await verifyPassword('', decoy)).toBe(false);
});

test('checks beyond those that run and wait are refused at once, the others are done', async () => {
  using checks = new PasswordChecks({ running: 1, waiting: 2 });
  const hash = await hashPassword('p', lightCost);
  const accepted = [checks.verify('p', hash), checks.verify('q', hash), checks.verify('p', hash)];

  expect(await refusalOf(checks.verify('p', hash))).toMatchObject({
    code: 'rate-limited',
    retryAfterMs: 5_000,
  });
  expect(await Promise.all(accepted)).toEqual([true, false, true]);
  expect(await checks.verify('p', hash)).toBe(true);
});

test('a check that fails leaves its place to the next', async () => {
  using checks = new PasswordChecks({ running: 1, waiting: 1 });
  const hash = await hashPassword('p', lightCost);
  await expect(checks.verify('p', 'no hash')).rejects.toThrow(RangeError);
  expect(await checks.verify('p', hash)).toBe(true);
});

test('closing refuses the checks that wait', async () => {
  const checks = new PasswordChecks({ running: 1 });
  const hash = await hashPassword('p', lightCost);
  const running = checks.verify('p', hash);
  const waiting = checks.verify('p', hash);
  checks[Symbol.dispose]();

  expect(await refusalOf(waiting)).toMatchObject({
    code: 'internal-error',
    message: 'the hub is shutting down',
  });
  expect(await refusalOf(checks.verify('p', hash))).toMatchObject({ code: 'internal-error' });
  expect(await running).toBe(true);
});
