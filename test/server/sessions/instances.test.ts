import { expect, test } from 'vitest';
import type { TestSession } from '../../support/session.js';
import type { TestHub } from '../../support/hub.js';
import { MARK, bearer, heldLogins, invalid, logIn, refusedUpgrade, signed, startHub } from './fixtures.js';

const instanceId = 'q8Zr3kX0aW5nT7uB';
const replaced = { code: 4409, reason: 'replaced by a later session of this instance' };

/** The two ways to say which instance one is. */
const ways: Record<string, (hub: TestHub, user: string, id?: string) => Promise<TestSession>> = {
  header: (hub, user, id = instanceId) => hub.connect({ user, instanceId: id }),
  message: async (hub, user, id = instanceId) => {
    const session = await hub.open();
    await logIn(session, { token: await hub.token(user), instanceId: id });
    await session.event('session-opened');
    return session;
  },
};

const pairs = Object.keys(ways).flatMap((earlier) =>
  Object.keys(ways).map((later) => [earlier, later] as const),
);

test.each(pairs)(
  'AUTH-10: earlier by %s, later by %s: the earlier one is closed with 4409',
  async (one, two) => {
    await using hub = await startHub();
    await using earlier = (await ways[one]?.(hub, 'u1')) ?? fail();
    await using witness = await hub.connect();
    await earlier.serve('x', ['f']);
    await witness.event('remote-connected');
    const pending = witness.call('x', 'f');
    await earlier.next('remote-call');

    await using later = (await ways[two]?.(hub, 'u1')) ?? fail();
    expect(await later.serve('x', ['g'])).toMatchObject({ message: 'remote connected' });
    expect(await earlier.end()).toEqual(replaced);
    expect(await pending).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
    expect(await witness.event('remote-disconnected')).toMatchObject({ body: { remotename: 'x' } });
    expect(await witness.event('remote-connected')).toMatchObject({ body: { remotename: 'x' } });
    const called = witness.call('x', 'g');
    await later.answer(1);
    expect(await called).toMatchObject({ result: 1 });
    expect(hub.hub.counts()).toMatchObject({ sessions: 2, remotes: 1 });
  },
);

test('AUTH-10: login and connect in one write take the name over, after the reply and session-opened', async () => {
  await using hub = await startHub();
  await using ghost = await hub.connect({ instanceId });
  await ghost.serve('x', ['f']);
  await using session = await hub.open();
  session.send({ action: 'authenticate', nonce: 'l', body: { token: await signed(), instanceId } });
  session.send({ action: 'remote-connect', nonce: 'c', body: { remotename: 'x', tools: [] } });
  expect(await session.reply('c')).toMatchObject({ message: 'remote connected' });
  await session.event('remote-connected');
  const kinds = session.frames.map((frame) => JSON.parse(frame) as Record<string, unknown>);
  expect(kinds.map((message) => message['nonce'] ?? message['action'])).toEqual([
    'l',
    'c',
    'session-opened',
    'remote-disconnected',
    'remote-connected',
  ]);
  expect(await ghost.end()).toEqual(replaced);
});

test('AUTH-10: at the upgrade session-opened comes first, whatever the earlier session served', async () => {
  await using hub = await startHub();
  await using ghost = await hub.connect({ instanceId });
  await using _witness = await hub.connect();
  await ghost.serve('x', ['f']);
  await using session = await hub.connect({ instanceId });
  await session.event('remote-disconnected');
  expect(session.frames.map((frame) => (JSON.parse(frame) as { action: unknown }).action)).toEqual([
    'session-opened',
    'remote-disconnected',
  ]);
});

test('AUTH-10: another user’s session with the same instanceId is untouched, and so is another instance', async () => {
  await using hub = await startHub();
  await using stranger = await hub.connect({ user: 'u2', instanceId });
  await using other = await hub.connect({ user: 'u1', instanceId: `${instanceId}x` });
  await using nameless = await hub.connect({ user: 'u1' });
  await stranger.serve('x', ['f']);
  await using _session = await hub.connect({ user: 'u1', instanceId });
  for (const session of [stranger, other, nameless]) await session.settle();
  expect(await stranger.remotes()).toEqual(['x']);
  expect(stranger.events.map(({ action }) => action)).toEqual(['remote-connected']);
});

test('a refused login replaces nobody', async () => {
  await using hub = await startHub();
  await using session = await hub.connect({ instanceId });
  await using thief = await hub.open();
  expect(await logIn(thief, { token: MARK, instanceId })).toMatchObject(invalid);
  const headers = { ...bearer(MARK), 'remotes-instance-id': instanceId };
  expect(await refusedUpgrade(hub.socketUrl, headers)).toMatchObject({ status: 401, body: invalid });
  await session.settle();
});

test('a user at the limit of sessions gets back in by taking the place of the ghost', async () => {
  await using hub = await startHub({ limits: { maxSessionsPerUser: 1 } });
  await using ghost = await hub.connect({ instanceId });
  await using session = await hub.open();
  expect(await logIn(session, { token: await signed(), instanceId })).toMatchObject({ userId: 'u1' });
  expect(await ghost.end()).toEqual(replaced);
  await using _third = await hub.connect({ instanceId });
  expect(await session.end()).toEqual(replaced);

  await using stranger = await hub.open();
  stranger.send({ action: 'authenticate', body: { token: await signed() } });
  expect(await stranger.end()).toEqual({ code: 4429, reason: 'too many sessions' });
  await hub.idle(1);
});

test('a run goes on when its user’s only session is taken over', async () => {
  const agents = [{ id: 'a', name: 'A', model: { provider: 'offline' as const } }];
  await using hub = await startHub({ agents });
  await using ghost = await hub.connect({ instanceId });
  const asked = heldLogins(); // any function that the test answers
  const handler = async () => asked.authenticate({ token: 'x' }, { address: 'none' });
  hub.hub.connectRemote({ userId: 'u1', remotename: 'w', functions: [{ name: 'get_forecast', handler }] });
  const options = { remotes: ['w'] };
  await ghost.request('send-agent-prompt', { agentId: 'a', instruction: 'get_forecast', options });
  const { decide } = await asked.next();
  await using session = await hub.connect({ instanceId });
  expect(await ghost.end()).toEqual(replaced);
  decide('sunny');
  expect(await session.event('run-finished')).toMatchObject({ body: { status: 'completed' } });
});

test.each(['x'.repeat(15), 'x'.repeat(129), ''])(
  'an instanceId header of a wrong length is 400: %j',
  async (id) => {
    await using hub = await startHub();
    const headers = { ...bearer(await hub.token()), 'remotes-instance-id': id };
    expect(await refusedUpgrade(hub.socketUrl, headers)).toMatchObject({
      status: 400,
      body: { error: 'Remotes-Instance-Id: expected 16 to 128 characters', code: 'invalid-body' },
    });
    await hub.idle();
  },
);

test.each([16, 128])('an instanceId of %i characters is taken, by both ways', async (length) => {
  await using hub = await startHub();
  await using first = await hub.connect({ instanceId: 'x'.repeat(length) });
  await using second = (await ways['message']?.(hub, 'u1', 'x'.repeat(length))) ?? fail();
  expect(await first.end()).toEqual(replaced);
  await second.settle();
});

test('two logins of one instance that are decided at the same moment leave one session: the later', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using first = await hub.open();
  await using second = await hub.open();
  for (const session of [first, second])
    session.send({ action: 'authenticate', nonce: 'l', body: { token: 'x', instanceId } });
  const held = [await logins.next(), await logins.next()];
  for (const { decide } of held) decide({ userId: 'u1' });
  const ended = await Promise.race([first.end().then(() => first), second.end().then(() => second)]);
  const left = ended === first ? second : first;
  await left.settle();
  await hub.idle(1);
});

function fail(): never {
  throw new Error('no such way');
}
