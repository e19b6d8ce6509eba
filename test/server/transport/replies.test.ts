import { errorCodes } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import type { Message } from '../../support/session.js';

test('WIRE-08: no reply has an action; a failed one has error, code and the nonce', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const body = { remotename: 'x', tools: [{ name: 'f', description: '' }] };
  const succeeded = [
    await session.request('remote-connect', body),
    await session.request('remote-list'),
    await session.request('agent-list'),
    await session.request('ping'),
    await session.request('remote-call-cancel', { nonce: 'none' }),
    await session.request('authenticate', { token: await hub.token() }),
    await session.request('remote-disconnect', { remotename: 'x' }),
  ];
  for (const reply of succeeded) {
    expect(Object.keys(reply)).not.toContain('action');
    expect(Object.keys(reply)).not.toContain('error');
    expect(Object.keys(reply)).not.toContain('code');
  }
  const failed = [
    await session.request('remote-disconnect', { remotename: 'x' }),
    await session.request('remote-connect', { remotename: '' }),
    await session.request('remote-call', { remotename: 'x', function: 'f' }),
    await session.request('authenticate', { token: 'x' }),
    await session.request('run-cancel', { runId: 'x' }),
    await session.request('send-agent-prompt', { agentId: 'x', instruction: 'x' }),
    await session.request('nope'),
  ];
  for (const reply of failed) {
    expect(Object.keys(reply)).not.toContain('action');
    expect(reply['error']).toMatch(/./u);
    expect(errorCodes).toContain(reply['code']);
    expect(reply['nonce']).toMatch(/^t\d+$/u);
  }
  expect(failed.filter((reply) => 'executed' in reply || 'retryable' in reply)).toEqual([failed[2]]);
});

test('WIRE-08: a result that looks like an error is a result', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  const reply = session.call('x', 'f', {});
  await session.answer({ error: 'no', code: 'internal-error', action: 'x' });
  expect(await reply).toEqual({ result: { error: 'no', code: 'internal-error', action: 'x' }, nonce: 't2' });
});

const neverAnswered: readonly Message[] = [
  { action: 'remote-call-result' },
  { action: 'remote-call-result', requestId: 'x#0', result: 1 },
  { action: 'remote-call-result', requestId: 7, result: 1 },
  { action: 'remote-call-result', requestId: null, error: 'e' },
  { action: 'remote-call-result', body: { requestId: 'x#0', result: 1 } },
  { action: 'remote-call-result', requestId: 'x#0', executed: 'perhaps', error: 'e' },
  { action: 'remote-call-progress' },
  { action: 'remote-call-progress', requestId: 'x#0', progress: 1 },
  { action: 'remote-call-progress', requestId: {}, progress: 1 },
];

test.each(neverAnswered)('WIRE-09: %j is not answered, only counted', async (message) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  session.send({ ...message, nonce: 'n' });
  session.send(message);
  await session.settle();
  expect(session.frames.slice(1)).toEqual(['{"message":"pong","nonce":"t1"}']);
  expect(hub.hub.counts().ignoredMessages).toBe(2);
});

test('WIRE-09: an answer or progress that is too deep to be read is not answered either', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const deep = '['.repeat(500) + ']'.repeat(500);
  session.send(`{"action":"remote-call-result","requestId":"x#0","nonce":1,"result":${deep}}`);
  session.send(`{"action":"remote-call-progress","requestId":"x#0","nonce":1,"progress":${deep}}`);
  session.send(`{"action":"remote-call-result","nonce":1,"result":${deep}}`);
  await session.settle();
  expect(session.frames.slice(1)).toEqual(['{"message":"pong","nonce":"t1"}']);
  expect(hub.hub.counts().ignoredMessages).toBe(3);
});

test('WIRE-09: before login they are answered not-authenticated', async () => {
  await using hub = await startTestHub();
  const session = await hub.open();
  for (const action of ['remote-call-result', 'remote-call-progress']) {
    session.send({ action, requestId: 'x#0', nonce: action });
    expect(await session.reply(action)).toEqual({
      error: 'log in first',
      code: 'not-authenticated',
      nonce: action,
    });
  }
});

test('WIRE-10: no event precedes the reply to the request that caused it', async () => {
  await using hub = await startTestHub();
  const login = await hub.open();
  await login.request('authenticate', { token: await hub.token() });
  await login.event('session-opened');
  const order = login.frames.map((text) => JSON.parse(text) as Message);
  expect(order.map((message) => message['action'] ?? message['message'])).toEqual([
    'authenticated',
    'session-opened',
  ]);

  const session = await hub.connect();
  session.send({ action: 'remote-connect', nonce: 1, body: { remotename: 'x', tools: [] } });
  session.send({ action: 'remote-disconnect', nonce: 2, body: { remotename: 'x' } });
  session.send({ action: 'remote-connect', nonce: 3, body: { remotename: 'y', tools: [] } });
  await session.event('remote-connected');
  await session.event('remote-disconnected');
  await session.event('remote-connected');
  const kinds = session.frames.slice(1).map((text) => {
    const { nonce, action, body } = JSON.parse(text) as { nonce?: number; action?: string; body?: Message };
    return nonce ?? `${action} ${String(body?.['remotename'])}`;
  });
  const events = ['remote-connected x', 'remote-disconnected x', 'remote-connected y'];
  expect(kinds.filter((kind) => typeof kind === 'string')).toEqual(events);
  for (const [index, event] of events.entries()) {
    expect(kinds.indexOf(index + 1)).toBeLessThan(kinds.indexOf(event));
  }
});

test('WIRE-10: a disconnect answers its caller and the calls that it fails before its event', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  await session.event('remote-connected');
  session.send({ action: 'remote-call', nonce: 'call', body: { remotename: 'x', function: 'f' } });
  session.send({ action: 'remote-disconnect', nonce: 'disconnect', body: { remotename: 'x' } });
  await session.event('remote-disconnected');
  expect(session.frames.findIndex((text) => text.includes('"disconnect"'))).toBeLessThan(
    session.frames.findIndex((text) => text.includes('remote-disconnected') && text.includes('action')),
  );
  expect(await session.reply('call')).toMatchObject({ code: 'remote-disconnected' });
});

test('WIRE-10: the events of a run follow the reply to its prompt', async () => {
  const agents = [{ id: 'a', name: 'A', model: { provider: 'offline' as const }, tools: [] }];
  await using hub = await startTestHub({ agents });
  const session = await hub.connect();
  await session.request('send-agent-prompt', { agentId: 'a', instruction: 'hello' });
  await session.event('run-finished');
  const reply = session.frames.findIndex((text) => text.includes('prompt accepted'));
  const started = session.frames.findIndex((text) => text.includes('run-started'));
  expect(reply).toBeGreaterThan(0);
  expect(started).toBeGreaterThan(reply);
  await hub.idle(1);
});
