import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub } from '../../support/hub.js';
import { frame, opcodes, RawSocket, upgradeRequest } from '../../support/raw-socket.js';

const spec = (name: string, more: object = {}): object => ({ name, description: '', ...more });

test('LIMIT-02: maxMessageBytes holds, and the login reply tells it', async () => {
  await using hub = await startTestHub({ limits: { maxMessageBytes: 1_024 } });
  const session = await hub.open();
  expect(await session.request('authenticate', { token: await hub.token() })).toMatchObject({
    maxMessageBytes: 1_024,
  });
  session.send('x'.repeat(1_024));
  expect(await session.next()).toMatchObject({ code: 'malformed-message' });
  session.send('x'.repeat(1_025));
  expect(await session.end()).toMatchObject({ code: 1009 });
});

test('LIMIT-02: maxJsonDepth holds', async () => {
  await using hub = await startTestHub({ limits: { maxJsonDepth: 3 } });
  const session = await hub.connect();
  session.send('{"action":"ping","nonce":[[1]]}');
  expect(await session.reply([[1]])).toEqual({ message: 'pong', nonce: [[1]] });
  session.send('{"action":"ping","nonce":1,"x":[[[]]]}');
  expect(await session.reply(1)).toMatchObject({ error: 'the message is nested deeper than 3 levels' });
});

test('LIMIT-02: maxRemotesPerSession and maxRemotesPerUser hold', async () => {
  await using hub = await startTestHub({ limits: { maxRemotesPerSession: 2, maxRemotesPerUser: 3 } });
  const [first, second] = [await hub.connect(), await hub.connect()];
  for (const name of ['a', 'b'])
    expect(await first.serve(name, [])).toMatchObject({ message: 'remote connected' });
  expect(await first.serve('c', [])).toMatchObject({ code: 'too-many-remotes' });
  expect(await second.serve('c', [])).toMatchObject({ message: 'remote connected' });
  expect(await second.serve('d', [])).toMatchObject({ code: 'too-many-remotes' });
  expect(await second.remotes()).toEqual(['a', 'b', 'c']);
  await first.request('remote-disconnect', { remotename: 'a' });
  expect(await second.serve('d', [])).toMatchObject({ message: 'remote connected' });
});

test('LIMIT-02: maxFunctionsPerRemote, maxToolsBytes, maxSchemaBytes and maxSchemaDepth hold', async () => {
  const limits = { maxFunctionsPerRemote: 2, maxToolsBytes: 3_000, maxSchemaBytes: 1_024, maxSchemaDepth: 3 };
  await using hub = await startTestHub({ limits });
  const session = await hub.connect();
  const connect = async (...tools: object[]): Promise<unknown> =>
    (await session.request('remote-connect', { remotename: 'x', tools }))['code'];
  expect(await connect(spec('a'), spec('b'), spec('c'))).toBe('message-too-large');
  expect(await connect(spec('a', { description: 'd'.repeat(3_000) }))).toBe('message-too-large');
  expect(await connect(spec('a', { parameters: { description: 'd'.repeat(1_100) } }))).toBe('invalid-schema');
  const deep = { properties: { a: { properties: { b: { properties: { c: {} } } } } } };
  expect(await connect(spec('a', { parameters: deep }))).toBe('invalid-schema');
  expect(await session.remotes()).toEqual([]);
  expect(await connect(spec('a'), spec('b', { parameters: { type: 'object' } }))).toBeUndefined();
});

test('LIMIT-02: maxToolsBytesPerUser holds over all sessions of a user', async () => {
  await using hub = await startTestHub({ limits: { maxToolsBytes: 1_024, maxToolsBytesPerUser: 1_500 } });
  const tools = [spec('f', { description: 'd'.repeat(900) })];
  const [first, second] = [await hub.connect(), await hub.connect()];
  const other = await hub.connect({ user: 'u2' });
  const connect = async (session: typeof first, remotename: string): Promise<unknown> =>
    (await session.request('remote-connect', { remotename, tools }))['code'];
  expect(await connect(first, 'a')).toBeUndefined();
  expect(await connect(second, 'b')).toBe('too-many-remotes');
  expect(await connect(other, 'b')).toBeUndefined();
});

test('LIMIT-02: maxCallsInFlight, callTimeoutMs and maxCallTimeoutMs hold', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({
    limits: { maxCallsInFlight: 2, callTimeoutMs: 100, maxCallTimeoutMs: 200 },
  });
  const serving = await hub.connect();
  const caller = await hub.connect();
  await serving.serve('x', ['f']);
  const [short, long] = [caller.call('x', 'f', {}), caller.call('x', 'f', {}, { timeoutMs: 60_000 })];
  expect(await caller.call('x', 'f', {})).toMatchObject({
    code: 'too-many-calls',
    executed: 'no',
    retryable: true,
  });
  await clock.advance(100);
  expect(await short).toMatchObject({ error: "remote 'x' did not answer within 100 ms" });
  await clock.advance(100);
  expect(await long).toMatchObject({ error: "remote 'x' did not answer within 200 ms" });
  await hub.idle(2);
});

test('LIMIT-02: authenticationTimeoutMs and maxAuthenticationFailures hold', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({
    limits: { authenticationTimeoutMs: 200, maxAuthenticationFailures: 1 },
  });
  const idle = await hub.open();
  const failing = await hub.open();
  expect(await failing.request('authenticate', { token: 'x' })).toMatchObject({
    code: 'invalid-credentials',
  });
  expect(await failing.end()).toMatchObject({ code: 4401, reason: 'too many failed logins' });
  await clock.advance(199);
  expect(hub.hub.counts().unauthenticated).toBe(1);
  await clock.advance(1);
  expect(await idle.end()).toEqual({ code: 4401, reason: 'no login within 200 ms' });
});

test('LIMIT-02: maxUnauthenticated and maxUnauthenticatedPerAddress hold, and the oldest goes', async () => {
  for (const limits of [{ maxUnauthenticated: 2 }, { maxUnauthenticatedPerAddress: 2 }]) {
    await using hub = await startTestHub({ limits });
    const [first, second] = [await hub.open(), await hub.open()];
    const third = await hub.open();
    expect(await first?.end()).toMatchObject({ code: 4401 });
    for (const session of [second, third]) {
      expect(await session.request('authenticate', { token: await hub.token() })).toMatchObject({
        userId: 'u1',
      });
    }
  }
});

test('LIMIT-02: maxAttemptsPerAddress holds over WebSocket and upgrade together', async () => {
  await using hub = await startTestHub({ limits: { maxAttemptsPerAddress: 2 } });
  const session = await hub.open();
  for (const _attempt of [1, 2]) {
    expect(await session.request('authenticate', { token: 'x' })).toMatchObject({
      code: 'invalid-credentials',
    });
  }
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: 'Bearer x' }));
  const answer = await raw.rest();
  expect(answer).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/u);
  expect(answer).toMatch(/\r\nRetry-After: [1-9]\d?\r\n/u);
  expect(answer).toMatch(/"code":"rate-limited"\}$/u);
});

test('LIMIT-02: heartbeatMs holds', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { heartbeatMs: 1_000 } });
  const headers = { Authorization: `Bearer ${await hub.token()}` };
  const session = await hub.connect();
  using silent = await RawSocket.open(hub.url);
  silent.write(upgradeRequest('/ws', headers));
  await silent.until('session-opened');
  await clock.advance(1_000);
  await session.settle();
  await clock.advance(999);
  expect(hub.hub.counts().sessions).toBe(2);
  await clock.advance(1);
  expect(hub.hub.counts().sessions).toBe(1);
});

test('LIMIT-02: probeTimeoutMs holds', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { probeTimeoutMs: 50 } });
  using holder = await RawSocket.open(hub.url);
  holder.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token()}` }));
  const connect = { action: 'remote-connect', body: { remotename: 'x', tools: [] } };
  holder.write(frame(opcodes.text, JSON.stringify(connect)));
  await holder.until('remote connected');
  const session = await hub.connect();
  const reply = session.serve('x', []);
  await holder.until('\x89\x00');
  await clock.advance(49);
  expect(hub.hub.counts().sessions).toBe(2);
  await clock.advance(1);
  expect(await reply).toMatchObject({ message: 'remote connected' });
  expect(hub.hub.counts().sessions).toBe(1);
});

test('LIMIT-02: maxRunsPerUser and maxRunSteps hold', async () => {
  const agents = [{ id: 'a', name: 'A', model: { provider: 'offline' as const } }];
  await using hub = await startTestHub({ agents, limits: { maxRunsPerUser: 1, maxRunSteps: 1 } });
  const session = await hub.connect();
  await session.serve('weather', ['get_forecast']);
  const prompt = { agentId: 'a', instruction: 'get forecast', options: { remotes: ['weather'] } };
  await session.request('send-agent-prompt', prompt);
  const call = await session.next('remote-call');
  expect(await session.request('send-agent-prompt', prompt)).toMatchObject({ code: 'rate-limited' });
  session.send({ action: 'remote-call-result', requestId: call['requestId'], result: 1 });
  expect(await session.event('run-finished')).toMatchObject({ body: { status: 'step-limit' } });
  await hub.idle(1);
});
