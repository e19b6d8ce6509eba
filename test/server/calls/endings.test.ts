import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually, soon } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';

const lost = {
  error: "remote 'x' disconnected before it answered",
  code: 'remote-disconnected',
  executed: 'unknown',
  retryable: false,
};

/** A serving session in a process of its own: connects `x`, says "called" for each call, and never answers. */
const servingProcess = `
  const { WebSocket } = require('ws');
  const socket = new WebSocket(process.env.HUB_URL, { headers: { authorization: 'Bearer ' + process.env.HUB_TOKEN } });
  socket.on('open', () => socket.send(JSON.stringify({
    action: 'remote-connect', nonce: 1, body: { remotename: 'x', tools: [{ name: 'f' }] } })));
  socket.on('message', (data) => {
    const { action, message } = JSON.parse(data);
    if (message === 'remote connected') console.log('connected');
    if (action === 'remote-call') console.log('called');
  });`;

test('K035 (i): a disconnect by another session fails pending calls at once and keeps the serving session', async () => {
  await using hub = await startTestHub();
  const [server, caller, other] = [await hub.connect(), await hub.connect(), await hub.connect()];
  await server.serve('x', ['f']);
  const replies = Array.from({ length: 3 }, async () => caller.call('x', 'f'));
  for (const _reply of replies) await server.next('remote-call');

  await other.request('remote-disconnect', { remotename: 'x' });
  for (const reply of await Promise.all(replies)) expect(reply).toMatchObject(lost);
  await server.settle();
  expect(hub.hub.counts()).toMatchObject({ sessions: 3, remotes: 0, providers: 0, pendingCalls: 0 });
});

test.each(['close', 'terminate'] as const)(
  'K035 (ii): a %s of the serving session fails pending calls at once',
  async (end) => {
    await using hub = await startTestHub();
    const [server, caller] = [await hub.connect(), await hub.connect()];
    await server.serve('x', ['f']);
    const replies = Array.from({ length: 3 }, async () => caller.call('x', 'f'));
    for (const _reply of replies) await server.next('remote-call');

    server.socket[end]();
    for (const reply of await Promise.all(replies)) {
      expect(reply).toMatchObject({ code: lost.code, executed: 'unknown', retryable: false });
      expect(reply['error']).toContain(lost.error);
    }
    expect(await caller.call('x', 'f')).toMatchObject({ code: 'remote-not-connected' });
    await hub.idle(1);
    expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0 });
  },
);

test('K035 (iii): pending calls fail at once when the serving process is killed', async () => {
  await using hub = await startTestHub();
  const caller = await hub.connect();
  const env = { PATH: process.env['PATH'], HUB_URL: hub.socketUrl, HUB_TOKEN: await hub.token() };
  const child = spawn(process.execPath, ['-e', servingProcess], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  await eventually(() => output.includes('connected'), 'the process serves');
  const replies = Array.from({ length: 3 }, async () => caller.call('x', 'f'));
  await eventually(() => output.split('called').length === 4, 'the process was called');

  child.kill('SIGKILL');
  const killedAt = performance.now();
  for (const reply of await soon(Promise.all(replies), 'the failures')) {
    expect(reply).toMatchObject({ code: lost.code, executed: 'unknown', retryable: false });
    expect(reply['error']).toContain(lost.error);
  }
  expect(performance.now() - killedAt).toBeLessThan(1_000);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 0, pendingCalls: 0 });
});

test('K037: a call whose caller has gone is freed at once, and its answer is dropped', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  await server.serve('x', ['f']);
  const ids: unknown[] = [];
  for (let round = 0; round < 10; round += 1) {
    const caller = await hub.connect();
    for (let n = 0; n < 100; n += 1) {
      caller.send({ action: 'remote-call', nonce: n, body: { remotename: 'x', function: 'f' } });
    }
    for (let n = 0; n < 100; n += 1) ids.push((await server.next('remote-call'))['requestId']);
    await caller.close();
  }

  await hub.idle(1);
  expect(hub.hub.counts().callers).toBe(0);
  const ignoredBefore = hub.hub.counts().ignoredMessages;
  for (const requestId of ids) server.send({ action: 'remote-call-result', requestId, result: 1 });
  await server.settle();
  expect(hub.hub.counts().ignoredMessages - ignoredBefore).toBe(1_000);
  expect(hub.logs.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

test('CALL-15: every failed call says executed and retryable as the table of codes says', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { maxCallsInFlight: 1 } });
  const [server, caller] = [await hub.connect(), await hub.connect()];
  const tools = [
    { name: 'f' },
    { name: 'checked', parameters: { type: 'object', required: ['a'] }, result: { type: 'string' } },
  ];
  await server.request('remote-connect', { remotename: 'x', tools });
  const outcome = async (
    reply: Promise<Record<string, unknown>>,
    act: () => unknown = () => 0,
  ): Promise<unknown> => {
    await caller.settle();
    await act();
    const { code, executed, retryable } = await reply;
    return [code, executed, retryable];
  };
  const answer = async (fields: object): Promise<void> => {
    const { requestId } = await server.next('remote-call');
    server.send({ action: 'remote-call-result', requestId, ...fields });
  };
  const f = async (more = {}) => caller.call('x', 'f', {}, more);

  expect(await outcome(caller.call('y', 'f'))).toEqual(['remote-not-connected', 'no', true]);
  expect(await outcome(caller.call('x', 'g'))).toEqual(['function-not-found', 'no', false]);
  expect(await outcome(caller.call('x', 'checked'))).toEqual(['invalid-arguments', 'no', false]);
  expect(await outcome(caller.call('x', ''))).toEqual(['invalid-body', 'no', false]);
  const tooDeep = `{"action":"remote-call","nonce":"deep","body":${'['.repeat(200)}${']'.repeat(200)}}`;
  caller.send(tooDeep);
  expect(await outcome(caller.reply('deep'))).toEqual(['malformed-message', 'no', false]);
  expect(await outcome(f(), async () => answer({ error: 'e' }))).toEqual(['function-failed', 'yes', false]);
  expect(await outcome(f(), async () => answer({ error: 'e', executed: 'no' }))).toEqual([
    'function-failed',
    'no',
    false,
  ]);
  expect(await outcome(caller.call('x', 'checked', { a: 1 }), async () => answer({ result: 1 }))).toEqual([
    'invalid-result',
    'yes',
    false,
  ]);
  expect(await outcome(f({ timeoutMs: 50 }), async () => clock.advance(50))).toEqual([
    'call-timeout',
    'unknown',
    false,
  ]);
  await server.next('remote-call');
  caller.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f' } });
  expect(await outcome(f())).toEqual(['too-many-calls', 'no', true]);
  const cancel = async () => caller.request('remote-call-cancel', { nonce: 'c' });
  expect(await outcome(caller.reply('c'), cancel)).toEqual(['call-cancelled', 'unknown', false]);
  const disconnect = async () => server.request('remote-disconnect', { remotename: 'x' });
  expect(await outcome(f(), disconnect)).toEqual(['remote-disconnected', 'unknown', false]);

  await server.serve('x', ['f']);
  const inFlight = f();
  await caller.settle();
  await hub.hub.close();
  expect(await inFlight).toMatchObject({ code: 'shutting-down', executed: 'unknown', retryable: false });
});
