import { expectEqual, expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule, type HubUnderTest } from '../hub-under-test.js';
import { RuleSkipped } from '../rule.js';
import type { WireSession } from '../wire-session.js';

const WRONG_TOKEN = 'no.such.token';

/** Sends a login that must be refused; failures are limited, so a hub may say that there were too many. */
async function expectRefused(session: WireSession, token: string, what: string): Promise<void> {
  const reply = await session.request('authenticate', { token });
  if (reply['code'] === 'rate-limited')
    throw new RuleSkipped('too many failed logins; try again in a minute');
  expectError(reply, 'invalid-credentials', what);
}

/** The claims of the target's token under a header that wants no signature. */
function unsignedToken(hub: HubUnderTest, algorithm: string): string {
  const [, claims] = hub.target.token.split('.');
  if (claims === undefined) throw new RuleSkipped('the token given is no JWT');
  return `${Buffer.from(JSON.stringify({ alg: algorithm, typ: 'JWT' })).toString('base64url')}.${claims}.`;
}

export const loginRules = [
  hubRule(
    'AUTH-03',
    'Ways in',
    'authenticate with a token logs in.',
    async (hub) => {
      const { session, reply } = await hub.tryLogin();
      expectMembers(reply, { message: 'authenticated' }, 'a login reply');
      await session.settle();
    },
    { isPrerequisite: true },
  ),

  hubRule(
    'AUTH-04',
    'Ways in',
    'The login reply tells user, session, largest frame and the end.',
    async (hub) => {
      const { reply } = await hub.tryLogin();
      const { userId, sessionId, maxMessageBytes, expiresAt } = reply;
      expectThat(typeof userId === 'string' && userId !== '', 'userId: a string', reply);
      expectThat(typeof sessionId === 'string' && sessionId !== '', 'sessionId: a string', reply);
      expectThat(
        Number.isInteger(maxMessageBytes) && Number(maxMessageBytes) > 0,
        'maxMessageBytes: a size',
        reply,
      );
      const isTime =
        typeof expiresAt === 'number' && Number.isInteger(expiresAt) && expiresAt > 1_600_000_000_000;
      expectThat(!('expiresAt' in reply) || isTime, 'expiresAt: absent, or milliseconds since 1970', reply);
    },
  ),

  hubRule(
    'AUTH-01',
    'Ways in',
    'A bearer token at the upgrade logs in, without a login reply.',
    async (hub) => {
      const session = await hub.open({ headers: { authorization: `Bearer ${hub.target.token}` } });
      await session.settle();
      const [first] = session.inbox.received;
      expectEqual(first?.message['action'], 'session-opened', 'the action of the first message');
    },
  ),

  hubRule(
    'AUTH-02',
    'Ways in',
    'Refused credentials at the upgrade are HTTP 401 with {error, code}.',
    async (hub) => {
      const answer = await hub.upgrade({ Authorization: `Bearer ${WRONG_TOKEN}` });
      if (answer.status === 429) throw new RuleSkipped('too many failed logins; try again in a minute');
      expectEqual(answer.status, 401, 'the status for a wrong token');
      const body: unknown = JSON.parse(answer.body);
      expectThat(typeof body === 'object' && body !== null, 'a JSON body', answer.body);
      expectError({ ...body }, 'invalid-credentials', 'a wrong token at the upgrade');
      expectThat('www-authenticate' in answer.headers, 'the header WWW-Authenticate', answer.headers);
    },
  ),

  hubRule('K011', 'Ways in', 'A token in the query is no credential.', async (hub) => {
    for (const parameter of ['token', 'access_token', 'authorization']) {
      const url = new URL(hub.target.url);
      url.searchParams.set(parameter, hub.target.token);
      const session = await hub.open({}, url.href);
      expectError(await session.request('ping'), 'not-authenticated', `a token in the query as ${parameter}`);
    }
  }),

  hubRule(
    'AUTH-05',
    'Before login',
    'Before login everything else is not-authenticated, after a refusal too.',
    async (hub) => {
      const session = await hub.open({ v1: true });
      const actions = [
        'ping',
        'remote-list',
        'remote-call',
        'remote-call-result',
        'remote-call-progress',
        'agent-list',
      ];
      const refuseAll = async (when: string): Promise<void> => {
        for (const action of actions) {
          expectError(await session.request(action, {}), 'not-authenticated', `${action} ${when}`);
        }
      };
      await refuseAll('before login');
      await expectRefused(session, WRONG_TOKEN, 'a wrong token');
      await refuseAll('after a refused login');
      const reply = await session.request('authenticate', { token: hub.target.token });
      expectMembers(reply, { message: 'authenticated' }, 'a login after a refused one');
      await session.settle();
    },
  ),

  hubRule(
    'AUTH-06',
    'Before login',
    'After three failures, or 10 s without a login (--slow), a connection is closed with 4401.',
    async (hub) => {
      const session = await hub.open();
      for (let count = 0; count < 3; count += 1) session.start('authenticate', { token: WRONG_TOKEN });
      const close = await session.closed('a close after three failed logins');
      const isLimited = session.inbox.received.some(({ message }) => message['code'] === 'rate-limited');
      if (isLimited) throw new RuleSkipped('too many failed logins; try again in a minute');
      expectEqual(close.code, 4401, 'the close code after three failed logins');
      if (hub.target.includeSlow !== true) return;
      const silent = await hub.open();
      expectEqual(
        (await silent.closed('a close after 10 s', 13_000)).code,
        4401,
        'the close code after 10 s',
      );
    },
    { deadlineMs: 30_000 },
  ),

  hubRule(
    'AUTH-08',
    'Expiry and renewal',
    'authenticate as the same user extends the session.',
    async (hub) => {
      const { session, reply } = await hub.tryLogin();
      const again = await session.request('authenticate', { token: hub.target.token });
      expectMembers(again, { message: 'authenticated', sessionId: reply['sessionId'] }, 'the same session');
      await session.settle();
    },
  ),

  hubRule(
    'K142',
    'Expiry and renewal',
    'A login as another user on a live session is refused.',
    async (hub) => {
      const { otherToken } = hub;
      const session = await hub.login();
      await expectRefused(session, otherToken, 'a token of another user');
      const remotename = hub.newName();
      await session.serve(remotename, ['f']);
      const other = await hub.login({ token: otherToken });
      expectError(await other.call(remotename, 'f'), 'remote-not-connected', "the first user's remote");
    },
  ),

  hubRule('K131', 'Tokens', 'A token with the algorithm none, however spelt, is refused.', async (hub) => {
    for (const algorithm of ['none', 'None', 'nOnE']) {
      const session = await hub.open();
      await expectRefused(session, unsignedToken(hub, algorithm), `a token with the algorithm ${algorithm}`);
    }
  }),

  hubRule(
    'AUTH-10',
    'Instances',
    'A later session of the same instance closes the earlier one with 4409.',
    async (hub) => {
      const instanceId = hub.newInstanceId();
      const first = await hub.login({ instanceId });
      const second = await hub.login({ instanceId });
      expectEqual((await first.closed('the end of the earlier session')).code, 4409, 'the close code');
      const headers = {
        authorization: `Bearer ${hub.target.token}`,
        'remotes-instance-id': instanceId,
      };
      const third = await hub.open({ headers });
      expectEqual((await second.closed('the end of the earlier session')).code, 4409, 'the close code');
      await third.settle();
    },
  ),

  hubRule('K010', 'Origin', 'An origin that is not allowed gets 403.', async (hub) => {
    const { status } = await hub.upgrade({ Origin: 'https://conformance.invalid' });
    if (status === 101) throw new RuleSkipped('this hub allows pages of any origin');
    expectEqual(status, 403, 'the status for a page of another origin');
  }),
];
