import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { SignJWT, type JWTPayload } from 'jose';
import type { HubConfigInput, HubOptions } from '@remotes-hub/server';
import { expect } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { hashPassword } from '../../../server/src/passwords/passwords.js';
import { eventually, soon } from '../../support/eventually.js';
import { TEST_SECRET, startTestHub, type TestHub } from '../../support/hub.js';
import { TestSession, type Message } from '../../support/session.js';

/** In every password and every odd token of these tests, so that a log can be searched for them. */
export const MARK = 'swordfish';

/** The refusal of every bad credential. */
export const invalid = { error: 'invalid credentials', code: 'invalid-credentials' };

export const notAuthenticated = { error: 'log in first', code: 'not-authenticated' };

export const tooMany = { error: 'too many attempts to log in', code: 'rate-limited' };

/** Matchers as values of a known type. */
export const aString: unknown = expect.any(String);
export const aNumber: unknown = expect.any(Number);
export const containing = (text: string): unknown => expect.stringContaining(text);
export const having = (fields: object): unknown => expect.objectContaining(fields);

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

/** The password of a user of {@link userOf}. */
export const passwordOf = (username: string): string => `${MARK} of ${username}: é`;

/** A configured user, with the cheapest hash there is. */
export async function userOf(username: string, password = passwordOf(username)) {
  return { username, passwordHash: await hashPassword(password, { ln: 10, r: 8, p: 1 }) };
}

/** A token of the hub's secret with these claims, `sub` u1 and `exp` in an hour unless given. */
export async function signed(claims: JWTPayload | Record<string, unknown> = {}, secret = TEST_SECRET) {
  const all = { sub: 'u1', exp: nowSeconds() + 3_600, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
}

/** A token written by hand: header, claims and signature as they are given. */
export function handMade(header: object, claims: object, signature = ''): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature}`;
}

export const basic = (username: string, password: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

/** A hub whose logs are searched at its end: no token, password, key or header may be in them. */
export async function startHub(config: HubConfigInput = {}, options: HubOptions = {}): Promise<TestHub> {
  const hub = await startTestHub(config, options);
  return {
    ...hub,
    [Symbol.asyncDispose]: async () => {
      await hub[Symbol.asyncDispose]();
      expectNoSecret(JSON.stringify(hub.logs));
    },
  };
}

/** What base64 makes of the mark, wherever it stands in a text. */
const encodedMarks = ['', 'x', 'xx'].map((before) =>
  Buffer.from(`${before}${MARK}`)
    .toString('base64')
    .slice(before === '' ? 0 : 4, 12),
);

/** Fails when a text holds a token, a marked password in any spelling, or the key. */
export function expectNoSecret(text: string): void {
  const marks = [MARK, ...encodedMarks, TEST_SECRET, 'eyJ', '$scrypt$'];
  expect(marks.filter((mark) => text.includes(mark))).toEqual([]);
}

/** A refused upgrade: the whole HTTP answer. */
export interface Refusal {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Asks for an upgrade that must be refused. */
export async function refusedUpgrade(url: string, headers: Record<string, string>, options?: ClientOptions) {
  const socket = new WebSocket(url, { ...options, headers });
  socket.on('error', () => undefined);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once('unexpected-response', (_request, answer) => resolve(answer));
    socket.once('open', () => reject(new Error('the upgrade was accepted')));
  });
  let text = '';
  for await (const chunk of response) text += String(chunk);
  expectNoSecret(text);
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) } as Refusal;
}

/** Sends `authenticate` on a connection and waits for the answer. */
export async function logIn(session: TestSession, body: object): Promise<Message> {
  const reply = await session.request('authenticate', body);
  expectNoSecret(JSON.stringify(reply));
  return reply;
}

/** A connection from another address of this machine. */
export async function openFrom(hub: TestHub, localAddress: string, headers: Record<string, string> = {}) {
  return TestSession.open(hub.socketUrl, [], { localAddress, headers });
}

/** A connection whose frames leave in one TCP write: those that are sent within `write`. */
export async function openCorked(hub: TestHub) {
  let raw: Socket | undefined;
  const { hostname, port } = new URL(hub.url);
  const createConnection = (): Socket => (raw = connect(Number(port), hostname));
  const session = await TestSession.open(hub.socketUrl, [], {
    createConnection,
  });
  return {
    session,
    write: (send: () => void): void => {
      raw?.cork();
      send();
      raw?.uncork();
    },
  };
}

/** A login that waits for the test's decision. */
export interface WaitingLogin {
  readonly credentials: unknown;
  readonly address: string;
  readonly decide: (identity: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** An `authenticate` function whose logins wait until the test decides them. */
export function heldLogins() {
  const waiting: WaitingLogin[] = [];
  const authenticate: NonNullable<HubOptions['authenticate']> = (credentials, { address }) =>
    new Promise((resolve, reject) => {
      // what a host program returns is its own affair, so a test may return anything
      waiting.push({ credentials, address, decide: resolve as (identity: unknown) => void, fail: reject });
    });
  const next = async (): Promise<WaitingLogin> => {
    await eventually(() => waiting.length > 0, 'a login');
    const login = waiting.shift();
    if (login === undefined) throw new Error('the login was taken by somebody else');
    return login;
  };
  return { authenticate, next, count: () => waiting.length };
}

/** Waits until the hub has seen the end of every connection that is not a session. */
export async function noneWaiting({ hub }: TestHub): Promise<void> {
  await eventually(() => hub.counts().unauthenticated === 0, 'no connection left that has not logged in');
}

/** Asks for a token over HTTP. */
export async function requestToken(hub: TestHub, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${hub.url}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Message };
}

/** Cuts a connection without a close frame, and waits until it is gone on this side. */
export async function cut(session: TestSession): Promise<void> {
  session.socket.terminate();
  if (session.socket.readyState !== WebSocket.CLOSED) await once(session.socket, 'close');
}

/** Waits until the hub has received all that was sent: frames keep their order, and pings are answered at once. */
export async function arrived({ socket }: TestSession): Promise<void> {
  const answered = once(socket, 'pong');
  socket.ping();
  await soon(answered, 'a pong');
}
