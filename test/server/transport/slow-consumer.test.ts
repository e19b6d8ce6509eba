import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { closeOf, connectionPair } from './connection-pair.js';

const MIB = 1024 * 1024;

test('K008: a session that does not read is closed with 4408, the others get every event, and memory falls back', async () => {
  await using hub = await startTestHub({ limits: { maxQueuedBytes: MIB, maxMessageBytes: MIB / 2 } });
  const slow = await hub.connect();
  const reader = await hub.connect();
  const serving = await hub.connect();
  await slow.event('session-opened');
  slow.socket.pause();

  const name = '漢'.repeat(127);
  let sent = 0;
  while (hub.hub.counts().sessions === 3 && sent < 60_000) {
    for (const end = sent + 500; sent < end; sent += 1) {
      const remotename = name + String.fromCharCode(0x4e00 + (sent % 20_000));
      serving.send({ action: 'remote-connect', body: { remotename, tools: [] } });
      serving.send({ action: 'remote-disconnect', body: { remotename } });
    }
    await serving.settle();
  }
  expect(hub.hub.counts().sessions).toBe(2);
  await reader.settle();
  expect(reader.events.filter(({ action }) => action === 'remote-connected')).toHaveLength(sent);
  expect(reader.events.filter(({ action }) => action === 'remote-disconnected')).toHaveLength(sent);
  const [line] = hub.logs.filter(({ msg }) => msg === 'slow consumer closed');
  expect(Number(line?.['queuedBytes'])).toBeLessThanOrEqual(MIB);

  slow.socket.resume();
  expect(await slow.end()).toEqual({ code: 4408, reason: 'the peer reads too slowly' });
});

test.each([
  ['ASCII', 'a'.repeat(1_000)],
  ['three-byte characters', '漢'.repeat(333)],
  ['four-byte characters', '🙂'.repeat(250)],
])('K008: what waits for one peer is at most maxQueuedBytes, in bytes: %s', async (_what, text) => {
  const maxQueuedBytes = 8 * MIB;
  using pair = await connectionPair({ maxQueuedBytes });
  let received = 0;
  pair.peer.on('message', (data: Buffer) => {
    received += data.length;
  });
  pair.peer.pause();
  await fillKernelBuffers(pair.connection.send.bind(pair.connection), () => pair.socket.bufferedAmount);
  let sent = 0;
  while (pair.ends() === 0) {
    pair.connection.send(text);
    sent += Buffer.byteLength(text);
  }
  expect(sent).toBeLessThanOrEqual(maxQueuedBytes + 10_000);
  expect(sent).toBeGreaterThan(maxQueuedBytes * 0.9);
  const closed = closeOf(pair.peer);
  pair.peer.resume();
  expect(await closed).toMatchObject({ code: 4408 });
  expect(received).toBeGreaterThan(maxQueuedBytes * 0.9);
});

test('K008: a single message larger than the room that is left closes the peer; one that fits does not', async () => {
  using pair = await connectionPair({ maxQueuedBytes: 100_000 });
  pair.connection.send('a'.repeat(99_000));
  expect(pair.ends()).toBe(0);
  pair.connection.send('a'.repeat(100_001));
  expect(pair.ends()).toBe(1);
});

test('K008: a peer that pings without end and reads no pong is cut off before the pongs fill the memory', async () => {
  await using hub = await startTestHub();
  const other = await hub.connect();
  const session = await hub.connect();
  session.socket.pause();
  for (let sent = 0; session.isOpen && hub.hub.counts().sessions === 2 && sent < 400_000; sent += 1) {
    if (sent % 500 > 0) session.socket.ping('p'.repeat(125));
    else await new Promise((resolve) => session.socket.ping('p'.repeat(125), true, resolve));
  }
  expect(hub.hub.counts().sessions).toBe(1);
  session.socket.resume();
  expect([4408, 4429]).toContain((await session.end()).code);
  await other.settle();
});

/** Until something waits in the process: what the system takes is not counted. */
async function fillKernelBuffers(send: (text: string) => void, waiting: () => number): Promise<void> {
  for (let turn = 0; turn < 5; turn += waiting() > 0 ? 1 : 0) {
    if (waiting() === 0) send('a'.repeat(100_000));
    await setImmediate();
  }
}
