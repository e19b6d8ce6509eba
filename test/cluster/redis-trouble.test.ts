import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { startTestHub } from '../support/hub.js';
import { freePort } from '../../scripts/benchmark/ports.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';
import { LEASE_MS, isReady, startNodes, untilReady } from './nodes.js';

const cluster = test.skipIf(redisPath === undefined);

cluster(
  `CLUSTER-05: a hub starts without Redis, says so, and joins when it is there${redisNote}`,
  async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    await using hub = await startTestHub({ redis: { url, leaseMs: LEASE_MS } });
    expect(await isReady(hub)).toBe(false);
    const session = await hub.connect();
    expect(await session.serve('x', ['f'])).toMatchObject({ code: 'backplane-unavailable' });
    expect(await session.call('y', 'f')).toMatchObject({
      error: 'the other nodes of the hub cannot be reached',
      code: 'backplane-unavailable',
      executed: 'no',
      retryable: true,
    });
    await eventually(() => hub.logs.some(({ msg }) => msg === 'Redis connection failed'), 'the log says why');
  },
);

cluster(
  'K100 K101: while Redis is away calls within a node go on, others fail at once, and all recovers by itself',
  async () => {
    await using nodes = await startNodes();
    const [server, neighbour, far] = [
      await nodes.node(0).connect(),
      await nodes.node(0).connect(),
      await nodes.node(1).connect(),
    ];
    await server.serve('x', ['f']);
    const pending = far.call('x', 'f');
    await server.next('remote-call');

    await nodes.redis.stop();
    expect(await pending).toMatchObject({
      code: 'backplane-unavailable',
      executed: 'unknown',
      retryable: false,
    });
    await untilReady(nodes.node(0), false);
    const local = neighbour.call('x', 'f');
    await server.answer('local');
    expect(await local).toMatchObject({ result: 'local' });
    expect(await far.call('x', 'f')).toMatchObject({ code: 'backplane-unavailable', executed: 'no' });
    const refused = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => far.serve(`y${index}`, ['f'])),
    );
    for (const reply of refused) expect(reply).toMatchObject({ code: 'backplane-unavailable' });

    await nodes.redis.restart({ keepData: false });
    await Promise.all(nodes.all.map(async (hub) => untilReady(hub)));
    const far2 = far.call('x', 'f');
    await server.answer('far');
    expect(await far2).toMatchObject({ result: 'far' });
    await far.serve('back', ['f']);
    const back = server.call('back', 'f');
    await far.answer('and back');
    expect(await back).toMatchObject({ result: 'and back' });
  },
);

cluster(
  'K103: a node that was cut off for longer than its lease loses its names, and takes nothing back',
  async () => {
    let proxy: FaultProxy | undefined;
    await using nodes = await startNodes({
      urlOf: async (index, url) => {
        if (index > 0) return url;
        proxy = await FaultProxy.start(url);
        return proxy.url;
      },
    });
    await using _proxy = proxy;
    const holder = await nodes.node(0).connect();
    const rival = await nodes.node(1).connect();
    await holder.serve('x', ['f']);
    await holder.serve('kept', ['f']);
    if (proxy !== undefined) proxy.isDown = true;
    proxy?.cut();

    await rival.event('remote-disconnected');
    await rival.event('remote-disconnected');
    expect(await rival.remotes()).toEqual([]);
    expect(await rival.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });

    if (proxy !== undefined) proxy.isDown = false;
    await holder.event('remote-disconnected');
    await untilReady(nodes.node(0));
    const call = holder.call('x', 'f');
    await rival.answer('rival');
    expect(await call).toMatchObject({ result: 'rival' });
    expect(new Set(await rival.remotes())).toEqual(new Set(['kept', 'x']));
    const kept = rival.call('kept', 'f');
    await holder.answer('kept');
    expect(await kept).toMatchObject({ result: 'kept' });
  },
);

cluster(
  'CLUSTER-05: after Redis has lost its data, a name that two nodes hold goes to the earlier connection',
  async () => {
    const proxies: FaultProxy[] = [];
    await using nodes = await startNodes({
      urlOf: async (index, url) => {
        const proxy = await FaultProxy.start(url);
        proxies[index] = proxy;
        return proxy.url;
      },
    });
    const [first, second] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
    await first.serve('x', ['f']);
    await first.serve('other', ['f']);

    const [ofFirst] = proxies;
    for (const proxy of proxies) proxy.isDown = true;
    for (const proxy of proxies) proxy.cut();
    await nodes.redis.restart({ keepData: false });
    for (const proxy of proxies) proxy.isDown = proxy === ofFirst;
    // whichever node is back first: the other one still holds what it held
    await eventually(
      () => nodes.all.some((hub) => hub.logs.some(({ isNewEpoch }) => isNewEpoch === true)),
      'one joins',
    );
    await second.serve('x', ['f']);
    for (const proxy of proxies) proxy.isDown = false;
    await Promise.all(nodes.all.map(async (hub) => untilReady(hub)));
    await second.event('remote-disconnected');

    expect(new Set(await second.remotes())).toEqual(new Set(['x', 'other']));
    const call = second.call('x', 'f');
    await first.answer('the earlier one');
    expect(await call).toMatchObject({ result: 'the earlier one' });
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  },
);

cluster('CLUSTER-05: a channel that has fallen silent is noticed, and made anew', async () => {
  let proxy: FaultProxy | undefined;
  await using nodes = await startNodes({
    count: 1,
    urlOf: async (_index, url) => {
      proxy = await FaultProxy.start(url);
      return proxy.url;
    },
  });
  await using _proxy = proxy;
  const hub = nodes.node(0);
  proxy?.stallAll();
  await untilReady(hub, false);
  await untilReady(hub);
  expect(hub.logs.some(({ msg }) => msg === 'connection to Redis lost')).toBe(true);
});

cluster('K108: a primary that became a replica is left for the one its name leads to', async () => {
  await using other = await RedisServer.start();
  await using nodes = await startNodes();
  const session = await nodes.node(0).connect();
  await session.serve('x', ['f']);
  await nodes.redis.command(`REPLICAOF 127.0.0.1 ${other.port}`);
  await untilReady(nodes.node(0), false);
  await nodes.redis.command('REPLICAOF NO ONE');
  await Promise.all(nodes.all.map(async (hub) => untilReady(hub)));
  for (let round = 0; round < 50; round += 1) {
    expect(await session.serve('y', ['f'])).not.toHaveProperty('error');
    expect(await session.request('remote-disconnect', { remotename: 'y' })).not.toHaveProperty('error');
  }
});
