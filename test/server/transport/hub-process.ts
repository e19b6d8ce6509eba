/**
 * A hub in a process of its own, with a client: many calls, many timeouts, then the end. Prints `{"closed":true}`
 * when the hub has closed, and ends by itself once nothing holds it; exit code 1 when something was left.
 */
import { createHub, createLogger } from '@remotes-hub/server';
import { TestSession } from '../../support/session.js';

const secret = 'a secret of the tests, long enough';
const hub = createHub({ config: { auth: { secret } }, log: createLogger('silent') });
const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
const { token } = await hub.issueToken('u1');

const options = { headers: { authorization: `Bearer ${token}` } };
const session = await TestSession.open(`${url.replace('http', 'ws')}/ws`, [], options);
await session.serve('x', ['f', 'never']);
session.socket.on('message', (data: Buffer) => {
  const { action, requestId, function: name } = JSON.parse(data.toString()) as Record<string, unknown>;
  if (action === 'remote-call' && name === 'f')
    session.send({ action: 'remote-call-result', requestId, result: 1 });
});
const calls = Array.from({ length: 300 }, async (_, index) =>
  index % 3 === 0 ? session.call('x', 'never', {}, { timeoutMs: 50 }) : session.call('x', 'f'),
);
const failed = (await Promise.all(calls)).filter(({ code }) => code === 'call-timeout');
if (failed.length !== 100 || hub.counts().pendingCalls > 0) process.exitCode = 1;

await hub.close();
process.stdout.write('{"closed":true}\n');
