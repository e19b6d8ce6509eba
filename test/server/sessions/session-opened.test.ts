import { expect, test } from 'vitest';
import { writeJson } from '../../../server/src/json/json-text.js';
import { Session, type Peer } from '../../../server/src/sessions/session.js';
import { SessionDirectory } from '../../../server/src/sessions/session-directory.js';
import { MARK, bearer, having, logIn, refusedUpgrade, signed, startHub } from './fixtures.js';

test('SESSION-01: session-opened reaches every session of the user, the new one after its login reply', async () => {
  await using hub = await startHub();
  await using first = await hub.connect();
  await using second = await hub.connect();
  await first.event('session-opened');
  await using stranger = await hub.connect({ user: 'u2' });
  await using session = await hub.open();
  const { sessionId } = await logIn(session, { token: await signed() });
  const event = { action: 'session-opened', body: { sessionId } };
  for (const each of [first, second, session]) expect(await each.event('session-opened')).toEqual(event);
  expect(session.frames.map((frame) => JSON.parse(frame) as unknown)).toEqual([
    having({ message: 'authenticated' }),
    event,
  ]);
  await stranger.settle();
  expect(stranger.events).toEqual([]);
});

test('SESSION-01: every session has an id of its own, and a refused login is no news', async () => {
  await using hub = await startHub();
  await using witness = await hub.connect();
  await refusedUpgrade(hub.socketUrl, bearer(MARK));
  await using refused = await hub.open();
  await logIn(refused, { token: MARK });
  const ids = new Set<unknown>();
  for (let n = 0; n < 5; n += 1) {
    await using session = await hub.open();
    ids.add((await logIn(session, { token: await signed() }))['sessionId']);
    const event = await witness.event('session-opened');
    expect(ids).toContain((event['body'] as { sessionId: unknown }).sessionId);
  }
  expect(ids.size).toBe(5);
  await witness.settle();
  expect(witness.events).toEqual([]);
});

test('the log tells of the opening and the end of a session, by its id', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  const { sessionId } = await logIn(session, { token: await signed() });
  await session.close();
  await hub.idle();
  expect(hub.logs.filter((line) => line['sessionId'] === sessionId)).toMatchObject([
    { msg: 'session opened', userId: 'u1', address: '127.0.0.1' },
    { msg: 'session closed', userId: 'u1' },
  ]);
});

// The directory by itself

const peer: Peer = {
  send: () => undefined,
  close: () => undefined,
  terminate: () => undefined,
  probe: async () => true,
};

function directory(limits = { maxSessions: 100, maxSessionsPerUser: 100 }) {
  const left: string[] = [];
  const arrived: string[] = [];
  const sessions = new SessionDirectory(limits, {
    userArrived: (userId) => void arrived.push(userId),
    userLeft: (userId) => left.push(userId),
  });
  const add = (userId: string, id: string, instanceKey?: string) => {
    const sent: unknown[] = [];
    const session = new Session({
      id,
      identity: { userId },
      peer: { ...peer, send: (text) => void sent.push(JSON.parse(String(text))) },
      address: '192.0.2.1',
      instanceKey,
      speaksV1: false,
    });
    sessions.add(session);
    return { session, sent };
  };
  return { sessions, add, left, arrived };
}

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

test('an event goes to the sessions that the user had when it happened', async () => {
  const { sessions, add } = directory();
  const early = add('u1', 'early');
  sessions.broadcast('u1', 'remote-connected', { remotename: 'x' });
  const late = add('u1', 'late');
  const stranger = add('u2', 'stranger');
  sessions.broadcast('nobody', 'remote-connected', { remotename: 'y' });
  early.session.send(writeJson({ message: 'reply' }));
  await nextTick();
  const opened = (sessionId: string) => ({ action: 'session-opened', body: { sessionId } });
  const connected = { action: 'remote-connected', body: { remotename: 'x' } };
  expect(early.sent).toEqual([{ message: 'reply' }, opened('early'), connected, opened('late')]);
  expect(late.sent).toEqual([opened('late')]);
  expect(stranger.sent).toEqual([opened('stranger')]);
});

test('an event that is caused while events are sent leaves after them', async () => {
  const { sessions, add } = directory();
  const { session, sent } = add('u1', 'a');
  session.onEnd(() => sessions.broadcast('u1', 'remote-disconnected', { remotename: 'x' }));
  const fragile = new Session({
    id: 'b',
    identity: { userId: 'u1' },
    peer: { ...peer, send: () => session.end() },
    address: '192.0.2.1',
    instanceKey: undefined,
    speaksV1: false,
  });
  sessions.add(fragile);
  const other = add('u1', 'c');
  await nextTick();
  await nextTick();
  expect(sent.length).toBeGreaterThan(0);
  expect(other.sent).toEqual([
    { action: 'session-opened', body: { sessionId: 'c' } },
    { action: 'remote-disconnected', body: { remotename: 'x' } },
  ]);
});

test('the user arrives with the first session and has left with the last, each once, and not in a take-over', () => {
  const { sessions, add, left, arrived } = directory();
  const first = add('u1', 'a', 'an instance of tests');
  const second = add('u1', 'b', 'an instance of tests');
  expect(first.session.isOpen).toBe(false);
  expect(sessions.size).toBe(1);
  expect(left).toEqual([]);
  second.session.end();
  second.session.end();
  expect(left).toEqual(['u1']);
  expect(arrived).toEqual(['u1']);
  add('u1', 'c').session.end();
  expect(arrived).toEqual(['u1', 'u1']);
  expect(sessions.size).toBe(0);
  expect(sessions.all()).toEqual([]);
});

test('there is room up to both limits, and for whoever takes an earlier session’s place', () => {
  const { sessions, add } = directory({ maxSessions: 3, maxSessionsPerUser: 2 });
  add('u1', 'a', 'an instance of tests');
  expect(sessions.hasRoom('u1')).toBe(true);
  add('u1', 'b');
  expect(sessions.hasRoom('u1')).toBe(false);
  expect(sessions.hasRoom('u1', 'another instance')).toBe(false);
  expect(sessions.hasRoom('u1', 'an instance of tests')).toBe(true);
  expect(sessions.hasRoom('u2')).toBe(true);
  add('u2', 'c').session.end();
  const last = add('u2', 'd');
  expect(sessions.hasRoom()).toBe(false);
  expect(sessions.hasRoom('u3', 'an instance of tests')).toBe(false);
  last.session.end();
  expect(sessions.hasRoom()).toBe(true);
  expect(sessions.all().map(({ id }) => id)).toEqual(['a', 'b']);
});
