import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { run, startHub, temporaryFolder } from './run-command.js';

const secret = 'a secret of thirty-two bytes, ok';

test('CLI-06: token makes a token that logs in', async () => {
  await using hub = await startHub();
  const { exitCode, stdout, stderr } = await run(['token', '--user', 'bob'], {
    REMOTES_HUB_SECRET: hub.secret,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const token = stdout.trim();
  expect(await run(['list'], { ...hub.env, REMOTES_HUB_TOKEN: token })).toMatchObject({ exitCode: 0 });
});

test('CLI-06: the token has the issuer and audience of the configuration, and the life asked for', async () => {
  using folder = temporaryFolder();
  const auth = { secret: 'env:KEY', issuer: 'me', audience: 'hub', jwksUrl: 'https://issuer.invalid/keys' };
  const file = folder.write('hub.json', JSON.stringify({ auth }));
  const { stdout } = await run(['token', '--user', 'bob', '--ttl', '90s', '--config', file, '--json'], {
    KEY: secret,
  });
  const { token, expiresAt } = z.object({ token: z.string(), expiresAt: z.int() }).parse(JSON.parse(stdout));
  const claims = decodeJwt(token);
  expect(claims).toMatchObject({ sub: 'bob', iss: 'me', aud: 'hub', exp: expiresAt / 1_000 });
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBeGreaterThanOrEqual(90);
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBeLessThanOrEqual(91);
});

test('a token of another secret does not log in', async () => {
  await using hub = await startHub();
  const { stdout } = await run(['token', '--user', 'bob'], { REMOTES_HUB_SECRET: `${hub.secret}!` });
  expect(await run(['list'], { ...hub.env, REMOTES_HUB_TOKEN: stdout.trim() })).toMatchObject({
    exitCode: 3,
  });
});
