import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT, exportJWK, generateKeyPair, type JWK, type JWTPayload } from 'jose';
import { expect } from 'vitest';
import { AuthenticationError } from '../../../server/src/authentication/authenticate.js';
import type { PasswordCost } from '../../../server/src/passwords/passwords.js';

export const SECRET = 'a secret of the tests, longer than 32 bytes';

/** The cheapest cost that a hash may have. */
export const lightCost: PasswordCost = { ln: 10, r: 8, p: 1 };

export const invalid = { code: 'invalid-credentials', message: 'invalid credentials' };

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

/** What a promise is refused with. */
export async function refusalOf(attempt: unknown): Promise<AuthenticationError> {
  const error = await Promise.resolve(attempt).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AuthenticationError);
  if (error instanceof AuthenticationError) return error;
  throw new TypeError('not refused');
}

/** A logger that keeps what it is given. */
export class KeptLog {
  readonly lines: { level: string; facts: unknown; text: string | undefined }[] = [];
  readonly debug = this.#keep('debug');
  readonly info = this.#keep('info');
  readonly warn = this.#keep('warn');
  readonly error = this.#keep('error');

  #keep(level: string) {
    return (facts: unknown, text?: string): void => void this.lines.push({ level, facts, text });
  }
}

/** Signs claims with the hub's secret; `exp` in an hour unless given. */
export function hubToken(claims: JWTPayload & Record<string, unknown>, secret = SECRET): Promise<string> {
  const all = { sub: 'u1', exp: nowSeconds() + 3_600, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
}

/** A key pair of an issuer. */
export async function issuerKey(kid: string, algorithm = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg: algorithm };
  const sign = (claims: JWTPayload = {}, header: { kid?: string } = { kid }): Promise<string> =>
    new SignJWT({ sub: 'u1', exp: nowSeconds() + 3_600, ...claims })
      .setProtectedHeader({ alg: algorithm, ...header })
      .sign(privateKey);
  return { jwk, publicKey, sign };
}

/** A key set on loopback. `answer` says how; by default with the keys that are published. */
export async function startIssuer(...keys: JWK[]) {
  const issuer: { keys: JWK[]; requests: number; answer?: ((response: ServerResponse) => void) | undefined } =
    {
      keys,
      requests: 0,
    };
  const server = createServer((_request, response) => {
    issuer.requests += 1;
    if (issuer.answer === undefined) response.end(JSON.stringify({ keys: issuer.keys }));
    else issuer.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new TypeError('not listening on a port');
  return Object.assign(issuer, {
    url: `http://127.0.0.1:${bound.port}/keys`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** A folder that is gone after the test. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'remotes-hub-'));
  return {
    path,
    file: (name: string): string => join(path, name),
    [Symbol.asyncDispose]: (): Promise<void> => rm(path, { recursive: true }),
  };
}
