import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { garbageCollector } from '../../support/garbage.js';
import { startTestHub } from '../../support/hub.js';

const $id = 'https://schemas.example/one';

test('K148: schemas with the same $id never meet: each call is checked by its own current schema', async () => {
  await using hub = await startTestHub();
  const first = await hub.connect({ user: 'u1' });
  const second = await hub.connect({ user: 'u2' });
  const toolsFor = (type: string): object[] => [
    {
      name: 'f',
      parameters: { $id, type: 'object', properties: { v: { $ref: '#/$defs/v' } }, $defs: { v: { type } } },
    },
    { name: 'g', parameters: { $id, type: 'object', properties: { v: { type: 'array' } } } },
  ];
  const connect = async (session: typeof first, type: string) =>
    session.request('remote-connect', { remotename: 'x', tools: toolsFor(type) });
  const outcome = async (session: typeof first, v: unknown, name = 'f'): Promise<unknown> => {
    const reply = session.call('x', name, { v });
    await session.settle();
    if (session.others.length > 0) await session.answer('passed');
    const { result, code } = await reply;
    return result ?? code;
  };

  expect(await connect(first, 'string')).toMatchObject({ message: 'remote connected' });
  expect(await connect(second, 'number')).toMatchObject({ message: 'remote connected' });
  expect([await outcome(first, 's'), await outcome(first, 1)]).toEqual(['passed', 'invalid-arguments']);
  expect([await outcome(second, 's'), await outcome(second, 1)]).toEqual(['invalid-arguments', 'passed']);
  expect([await outcome(first, [], 'g'), await outcome(first, 's', 'g')]).toEqual([
    'passed',
    'invalid-arguments',
  ]);

  await first.request('remote-disconnect', { remotename: 'x' });
  expect(await connect(first, 'boolean')).toMatchObject({ message: 'remote connected' });
  expect([await outcome(first, true), await outcome(first, 's')]).toEqual(['passed', 'invalid-arguments']);
  expect(await outcome(second, 1)).toBe('passed');
});

test('K148: ten thousand reconnects of a schema do not grow memory', async () => {
  await using hub = await startTestHub();
  const collect = garbageCollector();
  const heapAfter = (reconnects: number): number => {
    for (let n = 0; n < reconnects; n += 1) {
      const v = { type: 'string', enum: ['x'.repeat(500), `${n}`] };
      const parameters = { $id, type: 'object' as const, properties: { v } };
      const functions = [{ name: 'f', parameters, handler: () => null }];
      hub.hub.connectRemote({ userId: 'u1', remotename: 'x', functions })[Symbol.dispose]();
    }
    collect();
    return process.memoryUsage().heapUsed;
  };

  const before = heapAfter(500);
  const growth = heapAfter(10_000) - before;
  expect(growth).toBeLessThan(2_000_000); // 200 bytes a reconnect; one schema alone is more
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0 });
});

test('K144: an attack on a backtracking matcher is decided at once and delays no other user', async () => {
  await using hub = await startTestHub();
  const victim = await hub.connect({ user: 'u2' });
  const attacker = await hub.connect({ user: 'u1' });
  const patterns = ['^(a|a)*$', '^(a+)+$', '^([a-zA-Z]+)*$', '(x+x+)+y'];
  const properties = Object.fromEntries(patterns.map((pattern, n) => [`p${n}`, { type: 'string', pattern }]));
  const tools = [{ name: 'f', parameters: { type: 'object', properties } }];
  expect(await attacker.request('remote-connect', { remotename: 'x', tools })).toMatchObject({
    message: 'remote connected',
  });
  const texts = [`${'a'.repeat(31)}b`, `${'a'.repeat(31)}!`, `${'a'.repeat(31)}!`, 'x'.repeat(2_000)];

  /** How long a ping of the other user takes while the attack is on its way, at best of three. */
  const delays: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const started = performance.now();
    const replies = texts.map(async (text, n) => attacker.call('x', 'f', { [`p${n}`]: text }));
    await victim.settle();
    expect((await Promise.all(replies)).map(({ code }) => code)).toEqual(
      texts.map(() => 'invalid-arguments'),
    );
    delays.push(performance.now() - started);
  }
  expect(Math.min(...delays)).toBeLessThan(100);
});

test('K144: an invalid pattern is refused at connect', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  for (const pattern of ['(', '[', 'a{2,1}', '\\', '*a', '(?<n>a)(?<n>b)']) {
    const tools = [{ name: 'f', parameters: { type: 'object', properties: { p: { pattern } } } }];
    const reply = await session.request('remote-connect', { remotename: 'x', tools });
    expect(reply).toMatchObject({ code: 'invalid-schema' });
    expect(reply['error']).toMatch(/^function 'f': parameters\/properties\/p\/pattern: /u);
  }
  expect(await session.remotes()).toEqual([]);
});
