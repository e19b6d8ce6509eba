import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

const oddNames = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype', 'valueOf'];

test('K020: absent odd names are errors like any other', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();

  expect(await session.call('constructor', 'f')).toMatchObject({
    error: "no connected remote named 'constructor'",
    code: 'remote-not-connected',
  });
  expect(await session.request('remote-disconnect', { remotename: 'toString' })).toMatchObject({
    error: "no connected remote named 'toString'",
    code: 'remote-not-connected',
  });
  await session.serve('x', ['f']);
  for (const name of oddNames) {
    expect(await session.call('x', name)).toMatchObject({
      error: `remote 'x' has no function '${name}'`,
      code: 'function-not-found',
    });
  }
});

test.each([
  ...oddNames,
  ' ',
  '\u0000',
  'a\nb"c\\d/e',
  '#',
  '##0',
  '😀'.repeat(64),
  '\ud800',
  'e\u0301',
  'x'.repeat(128),
])('K020: the name %j works end to end for a remote and its functions', async (name) => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  const functions = [...new Set([name, 'constructor', '__proto__'])];

  expect(await server.serve(name, functions)).toMatchObject({
    message: 'remote connected',
    remotename: name,
  });
  expect(await caller.event('remote-connected')).toMatchObject({ body: { remotename: name } });
  expect(await caller.remotes()).toEqual([name]);
  for (const [n, functionName] of functions.entries()) {
    const reply = caller.call(name, functionName, { [name]: 1 });
    const call = await server.answer({ n });
    expect(call).toMatchObject({ requestId: `${name}#${n}`, function: functionName });
    expect(await reply).toMatchObject({ result: { n } });
  }
  expect(await caller.request('remote-disconnect', { remotename: name })).toMatchObject({ remotename: name });
  expect(await caller.remotes()).toEqual([]);
  expect(await caller.call(name, 'constructor')).toMatchObject({ code: 'remote-not-connected' });
  const plain: Record<string, unknown> = {};
  expect(['f', 'polluted', 'n'].map((key) => plain[key])).toEqual([undefined, undefined, undefined]);
});

test.each([
  ['an empty string', ''],
  ['129 characters', 'x'.repeat(129)],
  ['a number', 7],
  ['null', null],
  ['absent', undefined],
  ['an object', { toString: 'x' }],
])('a name that is %s is refused everywhere', async (_what, name) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  const f = { name: 'f', description: '' };

  const replies = [
    await session.request('remote-connect', { remotename: name, tools: [f] }),
    await session.request('remote-connect', { remotename: 'y', tools: [{ ...f, name }] }),
    await session.request('remote-disconnect', { remotename: name }),
    await session.request('remote-call', { remotename: name, function: 'f' }),
    await session.request('remote-call', { remotename: 'x', function: name }),
  ];
  expect(replies.map(({ code }) => code)).toEqual(replies.map(() => 'invalid-body'));
  const paths = [
    'body.remotename',
    'body.tools[0].name',
    'body.remotename',
    'body.remotename',
    'body.function',
  ];
  expect(replies.map(({ error }) => String(error).split(': ', 1)[0])).toEqual(paths);
  expect(await session.remotes()).toEqual(['x']);
});

test('names are compared exactly: case and Unicode normal forms differ', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const names = ['x', 'X', 'é', 'e\u0301', 'x ', ' x'];

  for (const name of names) expect(await session.serve(name, ['f'])).toMatchObject({ remotename: name });
  expect(await session.remotes()).toEqual(names);
  expect(await session.call('x', 'F')).toMatchObject({ code: 'function-not-found' });
});

test('K034: names that hold # never mix calls up, whatever the order of the answers', async () => {
  await using hub = await startTestHub();
  const first = await hub.connect();
  const second = await hub.connect();
  const caller = await hub.connect();
  await first.serve('a', ['f']);
  await second.serve('a#1', ['f']);
  await first.serve('#', ['f']);
  await second.serve('a#1#0', ['f']);
  const remotes = ['a', 'a#1', '#', 'a#1#0'];

  const replies = [...remotes, ...remotes].map(async (name) => caller.call(name, 'f', { name }));
  const calls = [];
  for (const session of [first, second]) {
    for (let n = 0; n < 4; n += 1) calls.push({ session, call: await session.next('remote-call') });
  }
  expect(calls.map(({ call }) => call['requestId'])).toEqual([
    ...['a#0', '##0', 'a#1', '##1'],
    ...['a#1#0', 'a#1#0#0', 'a#1#1', 'a#1#0#1'],
  ]);
  for (const { session, call } of calls.toReversed()) {
    session.send({ action: 'remote-call-result', requestId: call['requestId'], result: call['args'] });
  }
  const results = (await Promise.all(replies)).map(({ result }) => result);
  expect(results).toEqual([...remotes, ...remotes].map((name) => ({ name })));
});

test('K020: names are counted in UTF-16 code units: 64 emoji work, 65 are refused', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();

  expect(await session.serve('😀'.repeat(64), ['f'])).toMatchObject({ message: 'remote connected' });
  expect(await session.serve('😀'.repeat(65), ['f'])).toMatchObject({
    code: 'invalid-body',
    error: 'body.remotename: Too big: expected string to have <=128 characters',
  });
});
