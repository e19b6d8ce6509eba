/**
 * A hub in a process of its own, for the tests of its end. Prints one JSON line with `url` and `token` when it
 * listens. It closes on SIGTERM (argument `signal`) or after many calls and timeouts (argument `calls`), prints
 * `{"closed":true}` and ends by itself once nothing holds it.
 */
import { createHub, createLogger } from '@remotes-hub/server';
import { TestSession } from '../../support/session.js';

const hub = createHub({
  config: { auth: { secret: 'a secret of the tests, long enough' }, limits: { shutdownTimeoutMs: 1_000 } },
  log: createLogger('silent'),
});
const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
const { token } = await hub.issueToken('u1');

async function manyCalls(): Promise<void> {
  const options = { headers: { authorization: `Bearer ${token}` } };
  const session = await TestSession.open(`${url.replace('http', 'ws')}/ws`, [], options);
  await session.serve('x', ['f', 'never']);
  session.socket.on('message', (data) => {
    const { action, requestId, function: name } = JSON.parse(String(data)) as Record<string, unknown>;
    if (action === 'remote-call' && name === 'f') session.send({ action: 'remote-call-result', requestId, result: 1 });
  });
  const calls = Array.from({ length: 300 }, async (_, index) =>
    index % 3 === 0 ? session.call('x', 'never', {}, { timeoutMs: 50 }) : session.call('x', 'f'),
  );
  const failed = (await Promise.all(calls)).filter(({ code }) => code === 'call-timeout');
  if (failed.length !== 100 || hub.counts().pendingCalls > 0) process.exitCode = 1;
}

async function close(): Promise<void> {
  await hub.close();
  process.stdout.write('{"closed":true}\n');
}

if (process.argv[2] === 'calls') {
  await manyCalls();
  await close();
} else {
  process.once('SIGTERM', () => void close());
  process.stdout.write(`${JSON.stringify({ url, token })}\n`);
}
