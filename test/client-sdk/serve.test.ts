import { expect, test } from 'vitest';
import { LoggedIn, authenticated } from './scripted-hub.js';

const ok = { handler: () => 'ok' };

test('serve sends the function specs in order and gives the warnings of the hub', async () => {
  await using session = await LoggedIn.start();
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const serving = session.client.serve('weather', {
    get_forecast: { description: 'Forecast.', parameters, verb: 'get', timeoutMs: 5, maxCalls: 2, ...ok },
    other: ok,
  });
  const request = await session.hub.answer({ message: 'remote connected', warnings: ['a pattern'] });
  const remote = await serving;

  expect(request).toMatchObject({ action: 'remote-connect' });
  expect(request['body']).toEqual({
    remotename: 'weather',
    tools: [
      { name: 'get_forecast', description: 'Forecast.', parameters, verb: 'get', timeoutMs: 5, maxCalls: 2 },
      { name: 'other' },
    ],
  });
  expect(remote).toMatchObject({ remotename: 'weather', warnings: ['a pattern'] });
});

test('a call runs its handler with its arguments and context, and is answered', async () => {
  await using session = await LoggedIn.start();
  await session.serve({
    echo: { handler: (args, { requestId, timeoutMs }) => ({ args, requestId, timeoutMs }) },
  });

  expect(await session.hub.call('x#0', 'echo', { city: 'Rome' })).toEqual({
    action: 'remote-call-result',
    requestId: 'x#0',
    result: { args: { city: 'Rome' }, requestId: 'x#0', timeoutMs: 30_000 },
  });
});

test('a refused remote is a HubError with the code of the hub, and its functions are not served', async () => {
  await using session = await LoggedIn.start();
  const serving = session.client.serve('x', { f: ok });
  serving.catch(() => undefined);
  await session.hub.answer({
    error: "remote 'x' is already connected",
    code: 'remote-already-connected',
  });

  await expect(serving).rejects.toMatchObject({
    name: 'HubError',
    code: 'remote-already-connected',
    message: "remote 'x' is already connected",
  });
  expect(await session.hub.call('x#0', 'f')).toMatchObject({ executed: 'no' });
});

test('a refusal to serve a name twice leaves the functions that are served under it', async () => {
  await using session = await LoggedIn.start();
  await session.serve({ f: ok });
  const again = session.client.serve('x', { f: { handler: () => 'other' } });
  again.catch(() => undefined);
  await session.hub.answer({ error: "remote 'x' is already connected", code: 'remote-already-connected' });
  await expect(again).rejects.toMatchObject({ code: 'remote-already-connected' });

  expect(await session.hub.call('x#0', 'f')).toMatchObject({ result: 'ok' });
});

test('a call that comes with the reply to remote-connect, or before it, finds its function', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const serving = client.serve('x', { f: ok });
  const { nonce } = await hub.next();
  hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: {} });
  hub.send({ message: 'remote connected', remotename: 'x', nonce });
  hub.send({ action: 'remote-call', requestId: 'x#1', function: 'f', args: {} });

  expect([await hub.next(), await hub.next()]).toMatchObject([
    { requestId: 'x#0', result: 'ok' },
    { requestId: 'x#1', result: 'ok' },
  ]);
  await serving;
});

test('an unknown function and an unknown remote are answered with executed "no"', async () => {
  await using session = await LoggedIn.start();
  await session.serve({ f: ok });

  expect(await session.hub.call('x#0', 'toString')).toMatchObject({
    error: "remote 'x' has no function 'toString'",
    executed: 'no',
  });
  expect(await session.hub.call('constructor#0', 'f')).toMatchObject({
    error: "this session does not serve 'constructor'",
    executed: 'no',
  });
});

test('names with # and names of Object.prototype are served', async () => {
  await using session = await LoggedIn.start();
  const functions = Object.fromEntries([
    ['__proto__', { handler: () => 'p' }],
    ['constructor', { handler: () => 'c' }],
  ]);
  await session.serve(functions, 'a#1');
  await session.serve({ f: { handler: () => 'hash' } }, '#');
  await session.serve({ f: { handler: () => 'a' } }, 'a');
  const { hub } = session;

  expect(await hub.call('a#1#0', '__proto__')).toMatchObject({ requestId: 'a#1#0', result: 'p' });
  expect(await hub.call('a#1#1', 'constructor')).toMatchObject({ result: 'c' });
  expect(await hub.call('##0', 'f')).toMatchObject({ result: 'hash' });
  expect(await hub.call('a#1', 'f')).toMatchObject({ result: 'a' });
});

test('a request id that is delivered again runs nothing and is not answered', async () => {
  await using session = await LoggedIn.start();
  let runs = 0;
  await session.serve({ f: { handler: () => (runs += 1) } });
  await session.hub.call('x#0', 'f');
  session.hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: {} });
  await session.settled();

  expect(runs).toBe(1);
  expect(session.hub.untaken).toEqual([]);
});

test('of many calls none of the last 4,096 runs again, and those that still run are answered', async () => {
  await using session = await LoggedIn.start();
  const ran: number[] = [];
  let finish: (value: string) => void = () => undefined;
  await session.serve({
    f: { handler: ({ n }: { n: number }) => void ran.push(n) },
    last: { handler: async () => new Promise<string>((resolve) => (finish = resolve)) },
  });
  const { hub } = session;
  hub.send({ action: 'remote-call', requestId: 'x#0', function: 'last', args: {} });
  const call = (n: number): void =>
    hub.send({ action: 'remote-call', requestId: `x#${n}`, function: 'f', args: { n } });
  const many = Array.from({ length: 9_000 }, (_, index) => index + 1);
  for (const n of many) call(n);
  for (const n of many.slice(-4_096)) call(n);
  await session.settled();
  expect(ran).toEqual(many);

  for (const _ of many) expect(await hub.next()).toMatchObject({ action: 'remote-call-result' });
  finish('done');
  expect(await hub.next()).toEqual({ action: 'remote-call-result', requestId: 'x#0', result: 'done' });
});

test('calls run side by side: a hung handler holds up no other', async () => {
  await using session = await LoggedIn.start();
  await session.serve({ hang: { handler: async () => new Promise(() => undefined) }, f: ok });
  session.hub.send({ action: 'remote-call', requestId: 'x#0', function: 'hang', args: {} });

  expect(await session.hub.call('x#1', 'f')).toMatchObject({ requestId: 'x#1', result: 'ok' });
});

test('K043: a handler may call remotes of its own session and of others before it answers', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  await session.serve({
    f: { handler: async () => [await client.call('x', 'g'), await client.call('y', 'h')] },
    g: ok,
  });
  const inner = await hub.call('x#0', 'f');
  const answer = await hub.call('x#1', 'g');
  hub.send({ result: answer['result'], nonce: inner['nonce'] });
  await hub.answer({ result: 'from y' });

  expect(await hub.next()).toMatchObject({ requestId: 'x#0', result: ['ok', 'from y'] });
});

test('disconnect ends a remote once, also with drain and at the end of a block', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const serve = async (remotename: string) => {
    const serving = client.serve(remotename, { f: ok });
    await hub.answer({ message: 'remote connected', remotename });
    return serving;
  };
  const remote = await serve('x');
  const ending = remote.disconnect({ drain: true });
  const request = await hub.answer({ message: 'remote disconnected', remotename: 'x' });
  await ending;
  await remote.disconnect();
  expect(request).toMatchObject({ action: 'remote-disconnect', body: { remotename: 'x', drain: true } });

  const other = await serve('y');
  const disposed = other[Symbol.asyncDispose]();
  expect(await hub.answer({ message: 'remote disconnected' })).toMatchObject({
    action: 'remote-disconnect',
    body: { remotename: 'y' },
  });
  await disposed;
  await session.settled();
  expect(hub.untaken).toEqual([]);
});

test('a remote that another session disconnected is not disconnected again', async () => {
  await using session = await LoggedIn.start(authenticated);
  const { hub, client } = session;
  const serving = client.serve('x', { f: ok });
  await hub.answer({ message: 'remote connected' });
  const remote = await serving;
  hub.send({ action: 'remote-disconnected', body: { remotename: 'x' } });
  await session.settled();

  await remote.disconnect(); // somebody else may have the name by now
  await session.settled();
  expect(hub.untaken).toEqual([]);
});

test('a remote that was disconnected says so, and is not served again though the reply was lost', async () => {
  await using session = await LoggedIn.start(authenticated, { reconnect: { delayMs: 1 } });
  const serving = session.client.serve('x', { f: ok });
  await session.hub.answer({ message: 'remote connected', remotename: 'x' });
  const remote = await serving;
  expect(remote.isConnected).toBe(true);
  const disconnecting = remote.disconnect();
  expect(await session.hub.next()).toMatchObject({ action: 'remote-disconnect' });
  session.hub.socket.terminate();
  await disconnecting;
  expect(remote.isConnected).toBe(false);

  await session.hub.answer(authenticated);
  await session.settled(); // the ping is the first that came after the login
  expect(remote.isConnected).toBe(false);
});

test('a remote that the hub has disconnected says so', async () => {
  await using session = await LoggedIn.start();
  const serving = session.client.serve('x', { f: ok });
  await session.hub.answer({ message: 'remote connected', remotename: 'x' });
  const remote = await serving;
  const disconnecting = remote.disconnect();
  await session.hub.answer({ message: 'remote disconnected' });
  await disconnecting;
  expect(remote.isConnected).toBe(false);
});
