import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { refuseUpgrade } from '../../../server/src/transport/refuse-upgrade.js';
import { fakeClock } from '../../support/clock.js';

/** Both ends of a TCP connection; the near end is the peer's and does not read yet. */
async function tcpPair(): Promise<{ near: Socket; far: Socket } & Disposable> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('it listens on a port');
  const near = connect({ port: address.port, host: '127.0.0.1', allowHalfOpen: true });
  const [far] = (await once(server, 'connection')) as unknown[];
  if (!(far instanceof Socket)) throw new TypeError('no connection');
  far.on('error', () => undefined);
  return {
    near,
    far,
    [Symbol.dispose]: () => {
      near.destroy();
      far.destroy();
      server.close();
    },
  };
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'end');
  return text;
}

test('a refusal is one complete HTTP answer with its headers, its length in bytes, and the end', async () => {
  using pair = await tcpPair();
  refuseUpgrade(pair.far, {
    status: 429,
    error: 'später',
    code: 'rate-limited',
    headers: { 'Retry-After': '7' },
  });
  expect(await textOf(pair.near)).toBe(
    'HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 41\r\n' +
      'Retry-After: 7\r\n\r\n{"error":"später","code":"rate-limited"}',
  );
  pair.near.end();
  await once(pair.far, 'close');
});

test('the answer reaches a slow peer whole although what it has sent was never wanted', async () => {
  using pair = await tcpPair();
  pair.near.write(Buffer.alloc(300_000));
  const written = once(pair.far, 'finish');
  refuseUpgrade(pair.far, { status: 404, error: 'no' });
  await written;
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  pair.near.write(Buffer.alloc(300_000));
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  expect(await textOf(pair.near)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n.*\{"error":"no"\}$/su);
});

test('a peer that does not close is cut off after 2 s', async () => {
  using clock = fakeClock();
  using pair = await tcpPair();
  refuseUpgrade(pair.far, { status: 503, error: 'no' });
  await textOf(pair.near);
  expect(pair.far.destroyed).toBe(false);
  await clock.advance(1_999);
  expect(pair.far.destroyed).toBe(false);
  await clock.advance(1);
  expect(pair.far.destroyed).toBe(true);
});

test('a peer that has gone already is no error, and leaves no timer', async () => {
  using _clock = fakeClock();
  using pair = await tcpPair();
  pair.near.resetAndDestroy();
  const closed = new Promise((resolve) => pair.far.on('close', resolve));
  pair.far.resume();
  await closed;
  refuseUpgrade(pair.far, { status: 404, error: 'no' });
  expect(vi.getTimerCount()).toBe(0);
});
