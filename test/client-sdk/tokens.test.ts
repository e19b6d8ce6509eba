import { connect, type Hub, type StateChange } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { startTestHub } from '../support/hub.js';
import { ScriptedHub, authenticated } from './scripted-hub.js';

/** Lets time pass in steps that leave the hub and the client time for their messages. */
async function pass(clock: FakeClock, client: Hub, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 4_000) {
    await clock.advance(Math.min(4_000, ms - passed));
    await client.ping();
  }
}

const quick = { delayMs: 5, maxDelayMs: 20 };

test('SDK-13: a token function is asked at every connect', async () => {
  await using hub = await ScriptedHub.start();
  let count = 0;
  const connecting = connect(hub.url, { token: () => `token ${(count += 1)}`, reconnect: quick });
  expect(await hub.answer(authenticated)).toMatchObject({ body: { token: 'token 1' } });
  const client = await connecting;
  hub.socket.terminate();
  expect(await hub.answer(authenticated)).toMatchObject({ body: { token: 'token 2' } });
  await eventually(() => client.isOpen, 'the connection is open');
  await client.close();
});

test('SDK-13: a session lives on with new tokens, each asked for before the last expires', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  let asked = 0;
  const token = async () => {
    asked += 1;
    return hub.token('u1', 300_000);
  };
  await using client = await connect(hub.url, { token });
  const { sessionId } = client;
  const states: StateChange[] = [];
  client.on('state', (change) => states.push(change));
  const expiries = new Set<number | undefined>();
  for (let step = 0; step < 300; step += 1) {
    await clock.advance(4_000);
    await client.ping();
    // time stands still while a token is on its way
    await eventually(() => expiries.add(client.expiresAt).size === asked, 'the token asked for is in use');
  }
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(asked).toBeLessThan(9);
  expect(states).toEqual([]);
  expect(client.sessionId).toBe(sessionId);
});

test('SDK-13: a token function that fails before the expiry is asked again', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  let asked = 0;
  const token = async () => {
    asked += 1;
    if (asked === 2) throw new Error('the login page is down');
    return hub.token('u1', 300_000);
  };
  await using client = await connect(hub.url, { token });
  await pass(clock, client, 241_000);
  expect(asked).toBe(2);
  await pass(clock, client, 5_000);
  await eventually(() => asked === 3, 'it is asked again');
  await pass(clock, client, 60_000);
  expect(client.isOpen).toBe(true);
});

test('SDK-13: a token function without another token than the refused one ends the session', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: () => 'the same', reconnect: quick });
  await hub.answer(authenticated);
  const client = await connecting;
  const refused = hub.socket;
  refused.close(4401, 'the credentials have expired');
  await hub.answer({ error: 'no', code: 'invalid-credentials' });

  expect(await client.closed).toMatchObject({ reason: 'the token is the one that was refused' });
  expect(hub.untaken).toEqual([]);
});

test('SDK-13: with a token that is a text, an expired session is not tried again', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 't', reconnect: quick });
  await hub.answer(authenticated);
  const client = await connecting;
  hub.socket.close(4401, 'the credentials have expired');

  expect(await client.closed).toEqual({ code: 4401, reason: 'the credentials have expired' });
});

test('SDK-13: what a token function throws at the first connect is what connect rejects with', async () => {
  await using hub = await ScriptedHub.start();
  const token = () => {
    throw new Error('no user is logged in');
  };
  await expect(connect(hub.url, { token })).rejects.toThrow('no user is logged in');
  await expect(connect(hub.url, { token: () => '' })).rejects.toThrow(RangeError);
});

test('SDK-13: a token function that never answers fails connect in time', async () => {
  await using hub = await ScriptedHub.start();
  const token = async () => new Promise<string>(() => undefined);
  await expect(connect(hub.url, { token, connectTimeoutMs: 20 })).rejects.toMatchObject({
    code: 'connection-lost',
    reason: 'there was no token in time',
  });
});

test('SDK-13: credentials that a session was extended with are those of its next connection', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 'first', reconnect: quick });
  await hub.answer(authenticated);
  await using client = await connecting;
  const extending = client.authenticate({ token: 'second' });
  await hub.answer(authenticated);
  await extending;
  hub.socket.terminate();
  expect(await hub.answer(authenticated)).toMatchObject({ body: { token: 'second' } });
  await eventually(() => client.isOpen, 'the connection is open');
});
