import { expect, test } from 'vitest';
import { RequestIds } from '../../../server/src/remotes/request-ids.js';
import { onOneNode, startTestHub } from '../../support/hub.js';

test('CALL-07: request ids count from 0 per session and name, and go on after a new connect of the name', async () => {
  await using hub = await startTestHub();
  const first = await hub.connect();
  const second = await hub.connect();
  const caller = await hub.connect();
  const idOf = async (session: typeof first, name: string): Promise<unknown> => {
    const reply = caller.call(name, 'f');
    const { requestId } = await session.answer(null);
    await reply;
    return requestId;
  };

  await first.serve('x', ['f']);
  await first.serve('y', ['f']);
  expect([await idOf(first, 'x'), await idOf(first, 'x'), await idOf(first, 'y')]).toEqual([
    'x#0',
    'x#1',
    'y#0',
  ]);
  await first.request('remote-disconnect', { remotename: 'x' });
  await first.serve('x', ['f']);
  expect(await idOf(first, 'x')).toBe('x#2');
  await caller.request('remote-disconnect', { remotename: 'x' });
  await second.serve('x', ['f']);
  expect(await idOf(second, 'x')).toBe('x#0');
  await second.request('remote-disconnect', { remotename: 'x' });
  await first.serve('x', ['f']);
  expect(await idOf(first, 'x')).toBe('x#3');
});

test('CALL-07: a refused call uses no id', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const parameters = { type: 'object', required: ['a'] };
  await server.request('remote-connect', { remotename: 'x', tools: [{ name: 'f', parameters }] });

  await server.call('x', 'f', {});
  await server.call('x', 'g', {});
  const reply = server.call('x', 'f', { a: 1 });
  expect(await server.answer(1)).toMatchObject({ requestId: 'x#0' });
  expect(await reply).toMatchObject({ result: 1 });
});

test('CALL-07: no id is used twice, though a session serves far more names than are counted', () => {
  const ids = new RequestIds();
  const given = new Set<string>();
  let calls = 0;
  for (let round = 0; round < 3; round += 1) {
    for (let name = 0; name < 3_000; name += 1) {
      for (let call = 0; call <= name % 3; call += 1) {
        given.add(ids.next(`name ${name}`));
        calls += 1;
      }
    }
  }
  expect(given.size).toBe(calls);
  expect(given.has('name 0#0')).toBe(true);
});

// on two nodes: a session that does not wait for replies is still at it when others are answered
onOneNode('CALL-07: a name that comes back after 1100 others is not numbered from 0 again', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const names = ['x', 'x', ...Array.from({ length: 1_100 }, (_, n) => `other ${n}`), 'x'];

  for (const name of names) {
    server.send({ action: 'remote-connect', body: { remotename: name, tools: [{ name: 'f' }] } });
    server.send({ action: 'remote-call', body: { remotename: name, function: 'f' } });
    server.send({ action: 'remote-disconnect', body: { remotename: name } });
  }
  await server.settle();
  const ids = server.others.flatMap(({ action, requestId }) =>
    action === 'remote-call' && typeof requestId === 'string' ? [requestId] : [],
  );
  expect(ids.slice(0, 2)).toEqual(['x#0', 'x#1']);
  expect(ids.map((id) => id.slice(0, id.lastIndexOf('#')))).toEqual(names);
  expect(new Set(ids).size).toBe(1_103);
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, pendingCalls: 0 });
});
