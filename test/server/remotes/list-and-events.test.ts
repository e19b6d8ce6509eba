import { expect, test } from 'vitest';
import { onOneNode, startTestHub } from '../../support/hub.js';

test('REMOTE-13: the list shows remotes in order of connection, tools as the very text that was connected', async () => {
  await using hub = await startTestHub();
  const first = await hub.connect();
  const second = await hub.connect();
  const tools =
    '[ {"description":"d","name":"f", "parameters":{"type":"object","maximum":1e400,"x-n":9007199254740993,' +
    '"properties":{"__proto__":{"type":"string"}, "a":{"minimum":1.50}},"x":1,"x":2},"own":"\\u0041\\/"}]';
  first.send(`{"action":"remote-connect","nonce":1,"body":{"tools":[],"remotename":"z","tools":${tools}}}`);
  expect(await first.reply(1)).toMatchObject({ message: 'remote connected' });
  await second.serve('a', []);
  await first.serve('m', []);

  for (const session of [first, second]) {
    session.send({ action: 'remote-list', nonce: 'l' });
    await session.reply('l');
    expect(session.frames.at(-1)).toBe(
      `{"remotes":[{"remotename":"z","tools":${tools}},{"remotename":"a","tools":[]},{"remotename":"m","tools":[]}],"nonce":"l"}`,
    );
  }
  await second.request('remote-disconnect', { remotename: 'z' });
  await first.serve('z', []);
  expect(await first.remotes()).toEqual(['a', 'm', 'z']);
});

test('REMOTE-13: without remotes the list is empty', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send({ action: 'remote-list', nonce: 'l', body: { unknown: 1 } });
  expect(await session.reply('l')).toEqual({ remotes: [], nonce: 'l' });
});

test('EVENT-01: every session of the user is told of a connect and a disconnect, and nobody else', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const other = await hub.connect();
  const stranger = await hub.connect({ user: 'u2' });
  const anonymous = await hub.open();
  await server.event('session-opened'); // of the other

  await server.serve('x', ['f']);
  for (const session of [server, other]) {
    expect(await session.event('remote-connected')).toEqual({
      action: 'remote-connected',
      body: { remotename: 'x' },
    });
  }
  await other.request('remote-disconnect', { remotename: 'x' });
  for (const session of [server, other]) {
    expect(await session.event('remote-disconnected')).toEqual({
      action: 'remote-disconnected',
      body: { remotename: 'x' },
    });
  }
  await Promise.all([server, other, stranger].map(async (session) => session.settle()));
  anonymous.send({ action: 'ping', nonce: 'p' });
  await anonymous.reply('p');
  expect([server, other, stranger, anonymous].map(({ events }) => events)).toEqual([[], [], [], []]);
});

// on two nodes: the name is given back to the other nodes before anything else is done
onOneNode(
  'EVENT-01: a refused request causes no event, and the event follows the reply that caused it',
  async () => {
    await using hub = await startTestHub();
    const server = await hub.connect();
    await server.serve('x', ['f']);
    await server.event('remote-connected');

    await server.serve('x', ['f']);
    await server.request('remote-disconnect', { remotename: 'y' });
    await server.request('remote-connect', { remotename: 'y', tools: null });
    await server.settle();
    expect(server.events).toEqual([]);

    const before = server.frames.length;
    server.sendTogether(
      { action: 'remote-disconnect', nonce: 1, body: { remotename: 'x' } },
      { action: 'remote-connect', nonce: 2, body: { remotename: 'x', tools: [] } },
    );
    await server.event('remote-disconnected');
    await server.event('remote-connected');
    const frames = server.frames.slice(before).map((frame) => JSON.parse(frame) as Record<string, unknown>);
    expect(frames.map(({ nonce, action }) => nonce ?? action)).toEqual([
      1,
      2,
      'remote-disconnected',
      'remote-connected',
    ]);
  },
);

test.each([
  ['closes', 'close'],
  ['is cut off', 'terminate'],
] as const)(
  'SESSION-02: when a session %s its remotes disconnect and the other sessions are told',
  async (_how, end) => {
    await using hub = await startTestHub();
    const server = await hub.connect();
    const other = await hub.connect();
    await server.serve('x', ['f']);
    await other.serve('own', ['f']);
    await server.serve('y', ['f']);
    const pending = other.call('y', 'f');
    await server.next('remote-call');

    server.socket[end]();
    expect(await other.event('remote-disconnected')).toMatchObject({ body: { remotename: 'x' } });
    expect(await other.event('remote-disconnected')).toMatchObject({ body: { remotename: 'y' } });
    expect(await pending).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
    expect(await other.remotes()).toEqual(['own']);
    expect(other.events.filter(({ action }) => action === 'remote-disconnected')).toEqual([]);
    expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 1, providers: 1, pendingCalls: 0 });
  },
);

test('SESSION-03: two users use the same names and ids and never meet', async () => {
  await using hub = await startTestHub();
  const users = await Promise.all(
    ['u1', 'u2'].map(async (user) => ({
      user,
      server: await hub.connect({ user }),
      caller: await hub.connect({ user }),
    })),
  );
  for (const { user, server } of users) {
    expect(await server.serve('x', [user])).toMatchObject({ message: 'remote connected' });
  }
  for (const { user, server, caller } of users) {
    expect((await caller.request('remote-list'))['remotes']).toMatchObject([
      { remotename: 'x', tools: [{ name: user }] },
    ]);
    const stranger = users.find((other) => other.user !== user);
    expect(await caller.call('x', stranger?.user ?? '')).toMatchObject({ code: 'function-not-found' });

    const reply = caller.call('x', user);
    expect(await server.next('remote-call')).toMatchObject({ requestId: 'x#0', function: user });
    // the other user knows the id and the nonce, and can do nothing with them
    stranger?.server.send({ action: 'remote-call-result', requestId: 'x#0', result: 'spoof' });
    await stranger?.server.settle();
    expect(await stranger?.caller.request('remote-call-cancel', { nonce: 't3' })).toMatchObject({
      cancelled: 0,
    });
    server.send({ action: 'remote-call-result', requestId: 'x#0', result: user });
    expect(await reply).toMatchObject({ result: user });
  }
  const [first, second] = users;
  await first?.caller.request('remote-disconnect', { remotename: 'x' });
  expect(await second?.caller.remotes()).toEqual(['x']);
  await first?.server.close();
  expect(await second?.caller.remotes()).toEqual(['x']);
  expect(second?.caller.events.map(({ action }) => action)).toEqual(['remote-connected']);
});
