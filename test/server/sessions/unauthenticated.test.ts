import { expect, test } from 'vitest';
import { Unauthenticated } from '../../../server/src/sessions/unauthenticated.js';
import { MARK, arrived, bearer, heldLogins, openFrom, startHub } from './fixtures.js';

const login = (nonce: string) => ({ action: 'authenticate', nonce, body: { token: MARK } });

test('of one address the oldest goes with 4401 when there are too many; a genuine client gets in', async () => {
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 3 } });
  const idle = [await hub.open(), await hub.open(), await hub.open()];
  await using genuine = await hub.open();
  expect(await idle[0]?.end()).toEqual({
    code: 4401,
    reason: 'too many connections that have not logged in',
  });
  expect(await genuine.request('authenticate', { token: await hub.token() })).toMatchObject({ userId: 'u1' });
  await using _room = await hub.open(); // the login made room
  await arrived(genuine);
  expect(idle.map(({ isOpen }) => isOpen)).toEqual([false, true, true]);
  expect(hub.hub.counts().unauthenticated).toBe(3);
});

test('in all, the oldest of the address with the most goes, and other addresses are spared', async () => {
  await using hub = await startHub({ limits: { maxUnauthenticated: 4, maxUnauthenticatedPerAddress: 3 } });
  const few = await openFrom(hub, '127.0.0.2');
  const many = [await hub.open(), await hub.open(), await hub.open()];
  await using another = await openFrom(hub, '127.0.0.3');
  expect(await many[0]?.end()).toMatchObject({ code: 4401 });
  await arrived(another);
  expect([few, ...many].map(({ isOpen }) => isOpen)).toEqual([true, false, true, true]);
  await few.close();
});

test('a connection whose login is being decided is spared while others can go', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 2 } }, logins);
  await using loggingIn = await hub.open();
  loggingIn.send(login('l1'));
  const first = await logins.next();
  const idle = await hub.open();
  await using third = await hub.open();
  expect(await idle.end()).toMatchObject({ code: 4401 });
  expect(loggingIn.isOpen).toBe(true);

  third.send(login('l3'));
  const last = await logins.next();
  await using fourth = await hub.open(); // both are logging in: now the oldest goes
  expect(await loggingIn.end()).toMatchObject({ code: 4401 });
  first.decide({ userId: 'u1' });
  last.decide({ userId: 'u3' });
  expect(await third.reply('l3')).toMatchObject({ userId: 'u3' });
  expect(fourth.isOpen).toBe(true);
  expect(loggingIn.frames).toEqual([]);
});

test('a refused login is no longer spared', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 2 } }, logins);
  await using refused = await hub.open();
  refused.send(login('l1'));
  (await logins.next()).decide(null);
  await refused.reply('l1');
  await using idle = await hub.open();
  await using _third = await hub.open();
  expect(await refused.end()).toMatchObject({ code: 4401 });
  expect(idle.isOpen).toBe(true);
});

test('whoever has logged in and finds no room for a session pushes nobody out', async () => {
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 1, maxSessionsPerUser: 1 } });
  await using _session = await hub.connect();
  await using idle = await hub.open();
  await using tooMany = await openFrom(hub, '127.0.0.1', bearer(await hub.token()));
  expect(await tooMany.end()).toEqual({ code: 4429, reason: 'too many sessions' });
  await arrived(idle);
  expect(idle.isOpen).toBe(true);
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, unauthenticated: 1 });
});

/** A place of connections that say when they are pushed out. */
function place(maxUnauthenticated: number, maxUnauthenticatedPerAddress: number) {
  const connections = new Unauthenticated({ maxUnauthenticated, maxUnauthenticatedPerAddress });
  const evicted: string[] = [];
  const add = (name: string, address: string, isLoggingIn = false) => {
    const connection = {
      address,
      isLoggingIn,
      evict: () => {
        evicted.push(name);
        connections.delete(connection);
      },
    };
    connections.add(connection);
    return connection;
  };
  return { connections, evicted, add };
}

test('the addresses of one IPv6 network count as one, and IPv4 written as IPv6 as what it is', () => {
  const { connections, evicted, add } = place(10, 2);
  add('a', '2001:db8:1:2::1');
  add('b', '2001:db8:1:2:ffff::9');
  add('c', '2001:db8:1:2::1');
  expect(evicted).toEqual(['a']);
  add('d', '2001:db8:1:3::1');
  add('e', '::ffff:192.0.2.1');
  add('f', '192.0.2.1');
  expect(evicted).toEqual(['a']);
  add('g', '::ffff:192.0.2.1');
  expect(evicted).toEqual(['a', 'e']);
  expect(connections.size).toBe(5);
});

test('an address that its eviction emptied is counted on', () => {
  const { connections, evicted, add } = place(10, 1);
  add('a', '192.0.2.1');
  const b = add('b', '192.0.2.1');
  const c = add('c', '192.0.2.1');
  expect(evicted).toEqual(['a', 'b']);
  connections.delete(b); // once more: nothing happens
  expect(connections.size).toBe(1);
  connections.delete(c);
  expect(connections.size).toBe(0);
});

test('with one place in all, the newcomer of another address takes it', () => {
  const { connections, evicted, add } = place(1, 1);
  add('a', '192.0.2.1', true);
  add('b', '192.0.2.2');
  expect(evicted).toEqual(['a']);
  expect(connections.size).toBe(1);
});

test('the largest address gives, whoever comes', () => {
  const { evicted, add } = place(4, 4);
  add('a', '192.0.2.1');
  add('b', '192.0.2.2', true);
  add('c', '192.0.2.2');
  add('d', '192.0.2.2');
  add('e', '192.0.2.1');
  add('f', '192.0.2.1');
  expect(evicted).toEqual(['c', 'a']);
});
