import { expect, test } from 'vitest';
import {
  MARK,
  aString,
  basic,
  bearer,
  containing,
  heldLogins,
  invalid,
  logIn,
  notAuthenticated,
  passwordOf,
  signed,
  startHub,
  userOf,
} from './fixtures.js';
import { TestSession } from '../../support/session.js';

test('AUTH-03, AUTH-04: authenticate with a token logs in; the reply tells all there is to know', async () => {
  await using hub = await startHub({ limits: { maxMessageBytes: 100_000 } });
  const { token, expiresAt } = await hub.hub.issueToken('ada', 90_000);
  await using session = await hub.open();
  const reply = await logIn(session, { token });
  expect(reply).toEqual({
    message: 'authenticated',
    userId: 'ada',
    sessionId: aString,
    maxMessageBytes: 100_000,
    expiresAt,
    nonce: 't1',
  });
  const opened = await session.event('session-opened');
  expect(opened['body']).toEqual({ sessionId: reply['sessionId'] });
});

test('AUTH-03, AUTH-04: authenticate with a password logs in; such a session has no end', async () => {
  await using hub = await startHub({ auth: { users: [await userOf('Zoë')] } });
  await using session = await hub.open();
  const reply = await logIn(session, { username: 'Zoë', password: passwordOf('Zoë') });
  expect(reply).toMatchObject({ message: 'authenticated', userId: 'Zoë', maxMessageBytes: 4_194_304 });
  expect(reply).not.toHaveProperty('expiresAt');
});

test('AUTH-03: sessions of every way in are one user’s and can do the same', async () => {
  await using hub = await startHub({ auth: { users: [await userOf('ada')] } });
  const token = await hub.token('ada');
  const credentials = { username: 'ada', password: passwordOf('ada') };
  await using byMessage = await hub.open();
  await using byPassword = await hub.open();
  await using byHeader = await TestSession.open(hub.socketUrl, [], { headers: bearer(token) });
  await using byBasic = await TestSession.open(hub.socketUrl, [], {
    headers: basic('ada', passwordOf('ada')),
  });
  await logIn(byMessage, { token });
  await logIn(byPassword, credentials);
  const all = { byMessage, byPassword, byHeader, byBasic };
  for (const [name, session] of Object.entries(all)) {
    expect(await session.serve(name, ['f'])).toMatchObject({ message: 'remote connected' });
  }
  for (const session of Object.values(all)) expect(await session.remotes()).toEqual(Object.keys(all));
  for (const [name, session] of Object.entries(all)) {
    const reply = byMessage.call(name, 'f');
    await session.answer(name);
    expect(await reply).toMatchObject({ result: name });
  }
});

test('AUTH-05: before login every other action is refused, answers to calls and unknown ones too', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  const actions = [
    ...['ping', 'remote-connect', 'remote-disconnect', 'remote-list', 'remote-call', 'remote-call-cancel'],
    ...['remote-call-result', 'remote-call-progress', 'agent-list', 'send-agent-prompt', 'run-cancel'],
    ...[
      'session-opened',
      'no-such-action',
      'constructor',
      '__proto__',
      '',
      'Authenticate',
      'x'.repeat(10_000),
    ],
  ];
  for (const action of actions) {
    const reply = await session.request(action, { remotename: 'x', requestId: 'x#0' });
    expect(reply).toEqual({ ...notAuthenticated, nonce: aString });
  }
  expect(await logIn(session, { token: await hub.token() })).toMatchObject({ userId: 'u1' });
});

test('AUTH-05: after a refused login requests are still refused, and a later login succeeds', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  expect(await logIn(session, { token: MARK })).toEqual({ ...invalid, nonce: 't1' });
  expect(await session.request('remote-list')).toMatchObject(notAuthenticated);
  expect(await session.request('remote-connect', { remotename: 'x', tools: [] })).toMatchObject(
    notAuthenticated,
  );
  expect(await logIn(session, { token: await hub.token() })).toMatchObject({ message: 'authenticated' });
  expect(await session.remotes()).toEqual([]);
});

test.each([
  ['no body', undefined, 'body: '],
  ['a body that is no object', MARK, 'body: expected {token} or {username, password}, non-empty strings'],
  ['neither form', {}, 'body: expected {token} or {username, password}, non-empty strings'],
  ['an empty token', { token: '' }, 'body.token: Too small: expected string to have >=1 characters'],
  ['a token that is no string', { token: 7 }, 'body: expected {token}'],
  [
    'a token that is too long',
    { token: MARK.padEnd(16_385, 'x') },
    'body.token: Too big: expected string to have <=16384 characters',
  ],
  ['a name without a password', { username: 'ann' }, 'body: expected {token}'],
  [
    'a password that is too long',
    { username: 'ann', password: MARK.padEnd(1_025) },
    'body.password: Too big: expected string to have <=1024 characters',
  ],
  [
    'a name that is too long',
    { username: 'n'.repeat(257), password: MARK },
    'body.username: Too big: expected string to have <=256 characters',
  ],
  ['a short instanceId', { token: MARK, instanceId: 'x'.repeat(15) }, 'body.instanceId: '],
  ['a long instanceId', { token: MARK, instanceId: 'x'.repeat(129) }, 'body.instanceId: '],
  [
    'an instanceId that is no string',
    { token: MARK, instanceId: 7 },
    'body.instanceId: expected string, received number',
  ],
])('%s in authenticate is an invalid body, which costs no attempt', async (_what, body, path) => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxAuthenticationFailures: 1 } }, logins);
  await using session = await hub.open();
  const reply = await session.request('authenticate', body);
  expect(reply).toMatchObject({ code: 'invalid-body', error: containing(path) });
  expect(JSON.stringify(reply)).not.toContain(MARK);
  expect(await session.request('ping')).toMatchObject(notAuthenticated);
  expect(logins.count()).toBe(0);
});

test('a token beside a password counts as the token, and unknown fields are ignored', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  const body = {
    token: await signed({ sub: 'tina' }),
    username: 'ann',
    password: MARK,
    extra: { deep: [1] },
  };
  expect(await logIn(session, body)).toMatchObject({ userId: 'tina' });
});

test('EVENT-02: a connection that has not logged in gets no event, nor one whose login was refused', async () => {
  await using hub = await startHub();
  await using idle = await hub.open();
  await using refused = await hub.open(['remotes.v1']);
  await logIn(refused, { token: MARK });
  await using session = await hub.connect();
  await using other = await hub.connect();
  await session.serve('x', ['f']);
  expect(await other.event('remote-connected')).toMatchObject({ body: { remotename: 'x' } });
  await session.request('remote-disconnect', { remotename: 'x' });
  await other.event('remote-disconnected');

  // their own replies show that they would have got the events by now
  for (const stranger of [idle, refused]) {
    expect(await stranger.request('ping')).toMatchObject(notAuthenticated);
    expect([...stranger.events, ...stranger.others]).toEqual([]);
  }
  expect(idle.frames).toHaveLength(1);
});
