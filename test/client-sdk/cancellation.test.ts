import { expect, test, vi } from 'vitest';
import type { CallContext } from '@remotes-hub/client';
import { LoggedIn } from './scripted-hub.js';

/** A handler that hands out its context and waits for ever. */
function hanging() {
  const contexts: CallContext[] = [];
  const handler = async (_args: unknown, context: CallContext): Promise<never> => {
    contexts.push(context);
    return new Promise((_resolve, reject) => {
      context.signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
  };
  return { contexts, handler };
}

test('an aborted call fails at once and tells the hub', async () => {
  await using session = await LoggedIn.start();
  const controller = new AbortController();
  const calling = session.client.call('x', 'f', {}, { signal: controller.signal });
  calling.catch(() => undefined);
  const request = await session.hub.next();
  controller.abort('enough');

  await expect(calling).rejects.toMatchObject({
    name: 'RemoteError',
    code: 'call-cancelled',
    executed: 'unknown',
    cause: 'enough',
  });
  expect(await session.hub.next()).toEqual({
    action: 'remote-call-cancel',
    body: { nonce: request['nonce'] },
  });
  session.hub.send({ error: 'the call was cancelled', code: 'call-cancelled', nonce: request['nonce'] });
  await session.settled(); // the late reply finds nobody
});

test('a call whose signal has aborted already is not sent', async () => {
  await using session = await LoggedIn.start();

  await expect(session.client.call('x', 'f', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'call-cancelled',
    executed: 'no',
  });
  await session.settled();
  expect(session.hub.untaken).toEqual([]);
});

test('an abort after the result sends nothing', async () => {
  await using session = await LoggedIn.start();
  const controller = new AbortController();
  const calling = session.client.call('x', 'f', {}, { signal: controller.signal });
  await session.hub.answer({ result: 1 });
  await calling;
  controller.abort();
  await session.settled();

  expect(session.hub.untaken).toEqual([]);
});

test.each([
  ['call-timeout', 'call-timeout'],
  ['call-cancelled', 'call-cancelled'],
  ['caller-gone', 'call-cancelled'],
  ['remote-disconnected', 'remote-disconnected'],
  ['shutting-down', 'shutting-down'],
])(
  'a cancel of the hub for %s aborts the signal of the handler and is not answered',
  async (reason, code) => {
    await using session = await LoggedIn.start();
    const { contexts, handler } = hanging();
    await session.serve({ f: { handler } });
    session.hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: {} });
    await session.settled();
    session.hub.send({ action: 'remote-call-cancel', requestId: 'x#0', reason });
    await session.settled();

    expect(contexts[0]?.signal.aborted).toBe(true);
    expect(contexts[0]?.signal.reason).toMatchObject({
      name: 'RemoteError',
      code,
      message: `nobody waits for this call any more: ${reason}`,
      remotename: 'x',
      function: 'f',
    });
    expect(session.hub.untaken).toEqual([]);
  },
);

test('a cancel for an unknown call is ignored', async () => {
  await using session = await LoggedIn.start();
  session.hub.send({ action: 'remote-call-cancel', requestId: 'x#9', reason: 'call-timeout' });
  session.hub.send({ action: 'remote-call-cancel' });

  await session.settled();
});

test('progress of a handler reaches the hub, until the call has ended', async () => {
  await using session = await LoggedIn.start();
  let late: (value: unknown) => void = () => undefined;
  await session.serve({
    f: {
      handler: (_args, { progress }) => {
        progress({ done: 1 });
        progress(undefined);
        late = progress;
        return 'end';
      },
    },
  });
  expect(await session.hub.call('x#0', 'f')).toEqual({
    action: 'remote-call-progress',
    requestId: 'x#0',
    progress: { done: 1 },
  });
  expect(await session.hub.next()).toMatchObject({ progress: null });
  expect(await session.hub.next()).toMatchObject({ action: 'remote-call-result', result: 'end' });
  late('too late');
  await session.settled();
  expect(session.hub.untaken).toEqual([]);
});

test('progress that JSON cannot hold fails the handler that reports it', async () => {
  await using session = await LoggedIn.start();
  await session.serve({ f: { handler: (_args, { progress }) => progress(1n) } });

  expect(await session.hub.call('x#0', 'f')).toMatchObject({
    error: 'the progress cannot be sent as JSON: it is a big integer',
  });
});

test('progress of a call reaches onProgress, whose errors harm nothing', async () => {
  await using session = await LoggedIn.start();
  const report = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const seen: unknown[] = [];
  const onProgress = (progress: unknown): void => {
    seen.push(progress);
    throw new Error('in the listener');
  };
  const calling = session.client.call('x', 'f', {}, { onProgress });
  const { nonce } = await session.hub.next();
  session.hub.send({ action: 'remote-call-progress', nonce, progress: 1 });
  session.hub.send({ action: 'remote-call-progress', nonce: 'nobody', progress: 2 });
  session.hub.send({ result: 'end', nonce });

  expect(await calling).toBe('end');
  expect(seen).toEqual([1]);
  expect(report).toHaveBeenCalledOnce();
  report.mockRestore();
});

test('progress starts the timeout of a silent hub anew', async () => {
  await using session = await LoggedIn.start();
  const progressed = vi.fn<() => void>();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const calling = session.client.call('x', 'f', {}, { timeoutMs: 1_000, onProgress: progressed });
    const { nonce } = await session.hub.next();
    await vi.advanceTimersByTimeAsync(5_900);
    session.hub.send({ action: 'remote-call-progress', nonce, progress: 1 });
    await vi.waitFor(() => expect(progressed).toHaveBeenCalled());
    await vi.advanceTimersByTimeAsync(5_900);
    session.hub.send({ result: 'alive', nonce });
    expect(await calling).toBe('alive');
  } finally {
    vi.useRealTimers();
  }
});
