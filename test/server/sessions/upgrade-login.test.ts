import { expect, test } from 'vitest';
import { TestSession } from '../../support/session.js';
import {
  MARK,
  aString,
  basic,
  bearer,
  handMade,
  having,
  invalid,
  notAuthenticated,
  passwordOf,
  refusedUpgrade,
  signed,
  startHub,
  userOf,
} from './fixtures.js';

const open = (url: string, headers: Record<string, string>): Promise<TestSession> =>
  TestSession.open(url, [], { headers });

test('AUTH-01: a bearer token at the upgrade logs in; the session is there with the 101', async () => {
  await using hub = await startHub();
  await using session = await open(hub.socketUrl, bearer(await hub.token('ada')));
  expect(await session.event('session-opened')).toEqual({
    action: 'session-opened',
    body: { sessionId: aString },
  });
  expect(await session.remotes()).toEqual([]);
  expect(JSON.parse(session.frames[0] ?? '')).toMatchObject({ action: 'session-opened' });
  await session.close();
  await hub.idle();
});

test.each(['bearer', 'BEARER', 'Bearer  '])('AUTH-01: the scheme "%s" is Bearer', async (scheme) => {
  await using hub = await startHub();
  await using session = await open(hub.socketUrl, { authorization: `${scheme} ${await hub.token()}` });
  await session.event('session-opened');
});

test.each([
  ['plain', 'ann', MARK],
  ['with colons in the password', 'ann', `${MARK}:with::colons:`],
  ['with a name and a password beyond ASCII', 'Zoë 木', `${MARK} пароль 🗝`],
  ['with blanks at both ends', ' ann ', ` ${MARK} `],
  ['as long as the protocol allows', 'n'.repeat(256), MARK.padEnd(1_024, 'p')],
])('AUTH-01: Basic credentials %s log in', async (_what, username, password) => {
  await using hub = await startHub({ auth: { users: [await userOf(username, password)] } });
  await using session = await open(hub.socketUrl, basic(username, password));
  await session.event('session-opened');
  expect(hub.logs).toContainEqual(having({ msg: 'session opened', userId: username }));
});

test('AUTH-02: refused credentials at the upgrade are 401 with one text, whatever is wrong', async () => {
  await using hub = await startHub({ auth: { users: [await userOf('ann')] } });
  const refused = [
    bearer(await signed({}, `another secret, ${MARK}, long enough for HS256`)),
    bearer(await signed({ exp: 1 })),
    bearer(handMade({ alg: 'HS256' }, { sub: 'u1' }, 'AAAA')),
    bearer('no token'),
    bearer('.'.repeat(16_384)),
    basic('ann', `not the ${MARK}`),
    basic('nobody', passwordOf('ann')),
    basic('ANN', passwordOf('ann')),
    basic('constructor', MARK),
    basic('__proto__', MARK),
  ];
  for (const headers of refused) {
    expect(await refusedUpgrade(hub.socketUrl, headers)).toMatchObject({
      status: 401,
      headers: {
        'content-type': 'application/json',
        'www-authenticate': 'Bearer, Basic realm="remotes-hub"',
      },
      body: invalid,
    });
  }
  await hub.idle();
});

test.each([
  ['another scheme', `Digest ${MARK}`],
  ['a scheme alone', 'Bearer'],
  ['an empty token', 'Bearer '],
  ['a token that is too long', `Bearer ${'a'.repeat(16_385)}`],
  ['an empty header', ''],
  ['Basic without a colon', `Basic ${Buffer.from(MARK).toString('base64')}`],
  ['Basic with an empty name', `Basic ${Buffer.from(`:${MARK}`).toString('base64')}`],
  ['Basic with an empty password', `Basic ${Buffer.from('ann:').toString('base64')}`],
  ['Basic with a name that is too long', `Basic ${Buffer.from(`${'n'.repeat(257)}:p`).toString('base64')}`],
  ['Basic that is not base64', 'Basic \u00ff\u00fe:'],
])('AUTH-02: %s is 401', async (_what, authorization) => {
  await using hub = await startHub();
  expect(await refusedUpgrade(hub.socketUrl, { authorization })).toMatchObject({
    status: 401,
    body: { error: 'expected Bearer or Basic credentials', code: 'invalid-credentials' },
  });
  await hub.idle();
});

test('K011: a token in the query is no credential, good or bad, and is in no log line and no answer', async () => {
  await using hub = await startHub();
  const token = await hub.token();
  for (const query of [
    `token=${token}`,
    'token=SECRET123',
    `access_token=${token}&authorization=Bearer%20${token}`,
  ]) {
    await using session = await open(`${hub.socketUrl}?${query}`, {});
    expect(await session.request('remote-list')).toMatchObject(notAuthenticated);
    expect(hub.hub.counts()).toMatchObject({ sessions: 0, unauthenticated: 1 });
    await session.close();
    await hub.idle();
  }
  const refused = await refusedUpgrade(`${hub.socketUrl}?token=SECRET123`, bearer('wrong'));
  expect(refused.body).toEqual(invalid);
  expect(JSON.stringify(hub.logs)).not.toContain('SECRET123');
});

test('the query changes nothing for a client that logs in by the header', async () => {
  await using hub = await startHub();
  await using session = await open(`${hub.socketUrl}?token=SECRET123`, bearer(await hub.token()));
  await session.event('session-opened');
  expect(JSON.stringify(hub.logs)).not.toContain('SECRET123');
});
