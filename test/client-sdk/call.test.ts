import { expect, test, vi } from 'vitest';
import { RemoteError } from '@remotes-hub/client';
import { LoggedIn } from './scripted-hub.js';

test('a call sends its names, arguments and timeout, and gives the result', async () => {
  await using session = await LoggedIn.start();
  const calling = session.client.call('weather', 'get_forecast', { city: 'Rome' }, { timeoutMs: 500 });
  const request = await session.hub.answer({ result: { forecast: 'sunny' } });

  expect(await calling).toEqual({ forecast: 'sunny' });
  expect(request['action']).toBe('remote-call');
  expect(typeof request['nonce']).toBe('string');
  expect(request['body']).toEqual({
    remotename: 'weather',
    function: 'get_forecast',
    args: { city: 'Rome' },
    timeoutMs: 500,
  });
});

test.each([0, '', false, null, [], {}])('K038: %j is a result', async (result) => {
  await using session = await LoggedIn.start();
  const calling = session.client.call('x', 'f');
  const request = await session.hub.answer({ result });

  expect(await calling).toEqual(result);
  expect(request['body']).toEqual({ remotename: 'x', function: 'f', args: {} });
});

test('replies in any order find their calls; unknown nonces are ignored', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const calls = [client.call('x', 'f'), client.call('x', 'f')];
  const [first, second] = [await hub.next(), await hub.next()];
  hub.send({ result: 'lost', nonce: 'nobody' });
  hub.send({ result: 'no nonce' });
  hub.send({ result: 2, nonce: second['nonce'] });
  hub.send({ result: 1, nonce: first['nonce'] });
  hub.send({ result: 'again', nonce: first['nonce'] });

  expect(await Promise.all(calls)).toEqual([1, 2]);
});

test('a failed call is a RemoteError with all that the hub says', async () => {
  await using session = await LoggedIn.start();
  const calling = session.client.call('x', 'f');
  calling.catch(() => undefined);
  await session.hub.answer({
    error: "no connected remote named 'x'",
    code: 'remote-not-connected',
    executed: 'no',
    retryable: true,
  });

  await expect(calling).rejects.toBeInstanceOf(RemoteError);
  await expect(calling).rejects.toMatchObject({
    name: 'RemoteError',
    message: "no connected remote named 'x'",
    code: 'remote-not-connected',
    executed: 'no',
    retryable: true,
    remotename: 'x',
    function: 'f',
  });
});

test('an error reply with a code of a newer hub keeps it, executed unknown', async () => {
  await using session = await LoggedIn.start();
  const calling = session.client.call('x', 'f');
  calling.catch(() => undefined);
  await session.hub.answer({ error: 'the moon is full', code: 'full-moon' });

  await expect(calling).rejects.toMatchObject({
    message: 'the moon is full',
    code: 'full-moon',
    executed: 'unknown',
    retryable: false,
  });
});

test('a reply that is neither result nor error fails the call', async () => {
  await using session = await LoggedIn.start();
  const calling = session.client.call('x', 'f');
  calling.catch(() => undefined);
  await session.hub.answer({ message: 'what?' });

  await expect(calling).rejects.toMatchObject({
    code: 'internal-error',
    message: "the hub's reply to 'x.f' could not be understood",
  });
});

test('arguments above the limit of the hub are refused unsent', async () => {
  await using session = await LoggedIn.start(); // takes 10 000 bytes
  const calling = session.client.call('x', 'f', { text: 'x'.repeat(10_000) });

  await expect(calling).rejects.toMatchObject({ code: 'message-too-large', executed: 'no' });
  await expect(calling).rejects.toThrow(/^the call is 10\d\d\d bytes, the hub takes at most 10000$/u);
  await session.settled();
  expect(session.hub.untaken).toEqual([]);
});

test('arguments that are nested too deeply are refused unsent', async () => {
  await using session = await LoggedIn.start();
  let value: unknown = 1;
  for (let level = 0; level < 126; level += 1) value = [value];
  const calling = session.client.call('x', 'f', { value });

  await expect(calling).rejects.toMatchObject({
    code: 'invalid-arguments',
    executed: 'no',
    message: 'the call is nested 129 levels deep with its message, the hub takes at most 128',
  });
});

test('brackets and escaped quotes within strings are no nesting', async () => {
  await using session = await LoggedIn.start();
  const args = { text: `"\\"${'[{'.repeat(200)}\\`, after: '['.repeat(200) };
  const calling = session.client.call('x', 'f', args);
  const request = await session.hub.answer({ result: 1 });
  await calling;

  expect(request['body']).toMatchObject({ args });
});

test('a hub that stays silent fails a call 5 s after its timeout, executed unknown', async () => {
  await using session = await LoggedIn.start();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const calling = session.client.call('x', 'f', {}, { timeoutMs: 1_000 });
    const outcome = vi.fn<(error: unknown) => void>();
    const ended = calling.catch(outcome);
    await session.hub.next();
    await vi.advanceTimersByTimeAsync(5_999);
    expect(outcome).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(outcome.mock.calls[0]?.[0]).toMatchObject({
      code: 'call-timeout',
      executed: 'unknown',
      message: "the hub did not answer 'x.f' within 6000 ms",
    });
  } finally {
    vi.useRealTimers();
  }
});

test('list and agents give what the hub lists, ping the time it took', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const remotes = [{ remotename: 'x', tools: [{ name: 'f', extra: 1 }] }];
  const agents = [{ agentId: 7, name: 'Ada', tools: ['search'] }];
  const listing = client.list();
  expect(await hub.answer({ remotes })).toMatchObject({ action: 'remote-list' });
  expect(await listing).toEqual(remotes);

  const asking = client.agents();
  expect(await hub.answer({ agents })).toMatchObject({ action: 'agent-list' });
  expect(await asking).toEqual(agents);

  const pinging = client.ping();
  expect(await hub.answer({ message: 'pong' })).toMatchObject({ action: 'ping' });
  expect(await pinging).toBeGreaterThan(0);
});

test('authenticate extends the session, and a refusal leaves it as it was', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const extending = client.authenticate({ token: 'newer' });
  const request = await hub.answer({ userId: 'u1', sessionId: 's1', maxMessageBytes: 5, expiresAt: 9 });
  await extending;
  expect(request['body']).toEqual({ token: 'newer' });
  expect(client.expiresAt).toBe(9);
  // five bytes is what the hub takes from now on
  await expect(client.ping()).rejects.toMatchObject({ name: 'HubError', code: 'message-too-large' });
});
