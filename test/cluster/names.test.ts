import { expect, test } from 'vitest';
import { redisNote, redisPath } from '../support/redis.js';
import { startNodes } from './nodes.js';

const cluster = test.skipIf(redisPath === undefined);

cluster(`K111: a name that two nodes are asked for at once goes to exactly one${redisNote}`, async () => {
  await using nodes = await startNodes();
  const [one, other] = [await nodes.node(0).connect(), await nodes.node(1).connect()];

  for (let round = 0; round < 100; round += 1) {
    const body = { remotename: 'x', tools: [{ name: 'f' }] };
    const replies = await Promise.all([
      one.request('remote-connect', body),
      other.request('remote-connect', body),
    ]);
    const refused = replies.filter(({ error }) => error !== undefined);
    expect(refused).toMatchObject([
      { error: "remote 'x' is already connected", code: 'remote-already-connected' },
    ]);
    const winner = replies[0]?.['error'] === undefined ? one : other;
    expect(await winner.request('remote-disconnect', { remotename: 'x' })).toMatchObject({ remotename: 'x' });
  }
});

cluster(
  'CLUSTER-01: remote-list of any node shows the remotes of all, as they were connected, in their order',
  async () => {
    await using nodes = await startNodes({ count: 3 });
    const sessions = await Promise.all(nodes.all.map(async (hub) => hub.connect()));
    const names = ['b', 'a', 'd', 'c', 'f', 'e'];
    for (const [index, remotename] of names.entries()) {
      const tools = `[ {"name":"f","description":"${remotename}","x-big":12345678901234567890} ]`;
      sessions[index % 3]?.send(
        `{"action":"remote-connect","nonce":"${remotename}","body":{"remotename":"${remotename}","tools":${tools}}}`,
      );
      await sessions[index % 3]?.reply(remotename);
    }

    for (const session of sessions) {
      await session.request('remote-list');
      const frame = session.frames.findLast((text) => text.includes('"remotes"')) ?? '';
      const entries = names.map(
        (name) =>
          `{"remotename":"${name}","tools":[ {"name":"f","description":"${name}","x-big":12345678901234567890} ]}`,
      );
      expect(frame).toContain(`{"remotes":[${entries.join(',')}]`);
    }
  },
);

cluster(
  'CLUSTER-01: a name is free for other nodes when its reply says so, and when its session has gone',
  async () => {
    await using nodes = await startNodes();
    const [one, other] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
    await one.serve('x', ['f']);
    await one.request('remote-disconnect', { remotename: 'x' });
    expect(await other.serve('x', ['f'])).not.toHaveProperty('error');
    await other.close();
    await one.event('remote-disconnected');
    await one.event('remote-disconnected');
    expect(await one.serve('x', ['f'])).not.toHaveProperty('error');
  },
);

cluster("CLUSTER-01: a session disconnects its user's remote of another node", async () => {
  await using nodes = await startNodes();
  const [one, other] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
  await one.serve('x', ['f']);

  expect(await other.request('remote-disconnect', { remotename: 'x' })).toMatchObject({
    message: 'remote disconnected',
  });
  await one.event('remote-disconnected');
  expect(await one.remotes()).toEqual([]);
  expect(await other.request('remote-disconnect', { remotename: 'x' })).toMatchObject({
    error: "no connected remote named 'x'",
    code: 'remote-not-connected',
  });
});

cluster(
  'CLUSTER-01: messages of one session are handled in their order, though names are asked for elsewhere',
  async () => {
    await using nodes = await startNodes();
    const session = await nodes.node(1).connect();
    const connect = { action: 'remote-connect', body: { remotename: 'x', tools: [{ name: 'f' }] } };

    session.sendTogether(
      { ...connect, nonce: 1 },
      { action: 'remote-list', nonce: 2 },
      { action: 'remote-disconnect', nonce: 3, body: { remotename: 'x' } },
      { action: 'remote-call', nonce: 4, body: { remotename: 'x', function: 'f' } },
      { ...connect, nonce: 5 },
    );
    expect(await session.reply(1)).toMatchObject({ message: 'remote connected' });
    expect(await session.reply(2)).toMatchObject({ remotes: [{ remotename: 'x' }] });
    expect(await session.reply(3)).toMatchObject({ message: 'remote disconnected' });
    expect(await session.reply(4)).toMatchObject({ code: 'remote-not-connected' });
    expect(await session.reply(5)).toMatchObject({ message: 'remote connected' });
  },
);

cluster('CLUSTER-01: limits of a user hold for all nodes together', async () => {
  await using nodes = await startNodes({
    config: { limits: { maxRemotesPerUser: 2, maxToolsBytes: 1_024, maxToolsBytesPerUser: 1_200 } },
  });
  const [one, other] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
  const big = { remotename: 'big', tools: [{ name: 'f', description: 'x'.repeat(900) }] };
  await one.request('remote-connect', big);
  expect(await other.request('remote-connect', { ...big, remotename: 'too big' })).toMatchObject({
    error: 'the functions of all remotes together would pass 1200 bytes',
    code: 'too-many-remotes',
  });
  await other.serve('y', ['f']);
  expect(await other.serve('z', ['f'])).toMatchObject({
    error: '2 remotes are connected, the most a user may have',
    code: 'too-many-remotes',
  });
});

cluster('K110: no two pairs of user and remote meet, whatever their names are', async () => {
  await using nodes = await startNodes();
  const pairs = [
    ['a:b', 'c'],
    ['a', 'b:c'],
    ['{t}', 't'],
    ['t', '{t}'],
    ['*', '?'],
    ['[x]', '[x]'],
    ['new\nline', 'a\u0000b'],
    ['new', 'line'],
    ['名', 'ÿ'],
    ['a b', 'c d'],
  ] as const;
  const servers = [];
  for (const [user, remotename] of pairs) {
    const server = await nodes.node(0).connect({ user });
    await server.serve(remotename, ['f']);
    servers.push(server);
  }

  for (const [index, [user, remotename]] of pairs.entries()) {
    const caller = await nodes.node(1).connect({ user });
    expect(await caller.remotes()).toEqual([remotename]);
    const reply = caller.call(remotename, 'f');
    await servers[index]?.answer(index);
    expect(await reply).toMatchObject({ result: index });
  }
  for (const server of servers) expect(server.others).toEqual([]);
});

cluster(
  'CLUSTER-02: a session of an instance replaces the earlier one on another node, and has its names',
  async () => {
    await using nodes = await startNodes();
    const instanceId = 'q8Zr3kX0aW5nT7uB';
    const earlier = await nodes.node(0).connect({ instanceId });
    await earlier.serve('x', ['f']);

    const later = await nodes.node(1).connect({ instanceId });
    expect(await earlier.closed).toMatchObject({ code: 4409 });
    expect(await later.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
    const third = await nodes.node(0).connect({ instanceId });
    expect(await later.closed).toMatchObject({ code: 4409 });
    expect(await third.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
  },
);

cluster('K107: scripts that Redis has forgotten are loaded again, in the middle of a burst too', async () => {
  await using nodes = await startNodes({ config: { limits: { maxRemotesPerSession: 300 } } });
  const session = await nodes.node(0).connect();
  await session.serve('first', ['f']);
  await nodes.redis.command('SCRIPT FLUSH');
  expect(await session.request('remote-disconnect', { remotename: 'first' })).not.toHaveProperty('error');

  const replies = Array.from({ length: 200 }, async (_, index) => {
    if (index % 50 === 25) await nodes.redis.command('SCRIPT FLUSH');
    return session.request('remote-connect', { remotename: `x${index}`, tools: [] });
  });
  for (const reply of await Promise.all(replies)) expect(reply).not.toHaveProperty('error');
  expect(JSON.stringify(session.replies)).not.toContain('NOSCRIPT');
});
