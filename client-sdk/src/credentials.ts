import type { Credentials } from '@remotes-hub/protocol';
import { MAX_PASSWORD_LENGTH, MAX_TOKEN_LENGTH, MAX_USER_ID_LENGTH } from '@remotes-hub/protocol/limits';
import { checkText } from './checks.js';

/** Gives a token whenever one is needed: at every connect, and before the one in use expires. */
export type TokenSource = () => string | Promise<string>;

/** What `connect` logs in with. */
export type ConnectCredentials =
  { readonly token: string | TokenSource } | { readonly username: string; readonly password: string };

/** Picks the credentials. @throws {TypeError | RangeError} */
export function parseCredentials(options: ConnectCredentials): ConnectCredentials {
  const named = ['token', 'username', 'password'].filter((name) => Object.hasOwn(options, name)).join(' ');
  if ('token' in options && named === 'token') {
    const { token } = options;
    return { token: typeof token === 'function' ? token : checkText(token, 'token', 1, MAX_TOKEN_LENGTH) };
  }
  if ('username' in options && named === 'username password') {
    const { username, password } = options;
    return {
      username: checkText(username, 'username', 1, MAX_USER_ID_LENGTH),
      password: checkText(password, 'password', 1, MAX_PASSWORD_LENGTH),
    };
  }
  throw new TypeError('credentials: expected either {token} or {username, password}');
}

/** Whether others may come of them later. */
export function isRenewable(credentials: ConnectCredentials): boolean {
  return 'token' in credentials && typeof credentials.token === 'function';
}

/** The credentials of now. Rejects with what a token function throws, or when it gives no token. */
export async function currentCredentials(credentials: ConnectCredentials): Promise<Credentials> {
  if (!('token' in credentials)) return credentials;
  const { token } = credentials;
  if (typeof token === 'string') return { token };
  return { token: checkText(await token(), 'token', 1, MAX_TOKEN_LENGTH) };
}
