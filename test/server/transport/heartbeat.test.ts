import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { frame, opcodes } from '../../support/raw-socket.js';
import { TestSession } from '../../support/session.js';
import { connectionPair } from './connection-pair.js';

test('K001: a serving session behind a dead network is cut off within 30 s, and its remote and calls end then', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using proxy = await FaultProxy.start(hub.socketUrl);
  const headers = { authorization: `Bearer ${await hub.token()}` };
  await using serving = await TestSession.open(proxy.url, [], { headers });
  const caller = await hub.connect();
  await serving.serve('x', ['f']);
  await caller.event('remote-connected');
  const reply = caller.call('x', 'f', {}, { timeoutMs: 600_000 });
  await serving.next('remote-call');

  proxy.stall();
  await clock.advance(15_000);
  await caller.settle();
  expect(await caller.remotes()).toEqual(['x']);
  await clock.advance(14_999);
  await caller.settle();
  await clock.advance(1);
  expect(await reply).toMatchObject({ code: 'remote-disconnected', executed: 'unknown', retryable: false });
  expect(await caller.event('remote-disconnected')).toMatchObject({ body: { remotename: 'x' } });
  expect(await caller.remotes()).toEqual([]);
  expect(caller.isOpen).toBe(true);
  await hub.idle(1);
});

test('K001: a connection without a login that falls silent is gone too, and so is a silent caller with its calls', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { authenticationTimeoutMs: 60_000 } });
  await using proxy = await FaultProxy.start(hub.socketUrl);
  await using silent = await TestSession.open(proxy.url);
  const headers = { authorization: `Bearer ${await hub.token()}` };
  await using caller = await TestSession.open(proxy.url, [], { headers });
  const serving = await hub.connect({ v1: true });
  await serving.serve('x', ['f']);
  caller.send({ action: 'remote-call', nonce: 1, body: { remotename: 'x', function: 'f' } });
  await serving.next('remote-call');
  proxy.stall();
  await clock.advance(15_000);
  await serving.settle();
  await clock.advance(15_000);
  expect(await serving.next('remote-call-cancel')).toMatchObject({ reason: 'caller-gone' });
  await hub.idle(1);
  expect(silent.isOpen).toBe(true); // it cannot know
});

test('K001: the hub pings every 15 s, and a peer that answers stays for ever', async () => {
  using clock = fakeClock();
  using pair = await connectionPair();
  let pings = 0;
  pair.peer.on('ping', () => {
    pings += 1;
  });
  let pongs = 0;
  pair.socket.on('pong', () => {
    pongs += 1;
  });
  for (let beat = 1; beat <= 20; beat += 1) {
    await clock.advance(14_999);
    expect(pings).toBe(beat - 1);
    await clock.advance(1);
    await eventually(() => pongs === beat, `pong ${beat}`);
  }
  expect(pair.ends()).toBe(0);
});

test('K001: a peer whose long frame is still coming is alive, and one whose frame has stopped is not', async () => {
  using clock = fakeClock();
  using pair = await connectionPair({}, { autoPong: false });
  const whole = frame(opcodes.text, 'a'.repeat(1_000));
  let sent = 0;
  for (let beat = 1; beat <= 5; beat += 1) {
    pair.peerStream.write(whole.subarray(sent, (sent += 100)));
    const before = pair.stream.bytesRead;
    await eventually(() => pair.stream.bytesRead > before || pair.stream.bytesRead >= sent, 'more of it');
    await clock.advance(15_000);
  }
  expect(pair.ends()).toBe(0);
  await clock.advance(30_000);
  expect(pair.ends()).toBe(1);
});

test('K001: a peer that reads what is queued for it is alive, and one that reads no more is not', async () => {
  using clock = fakeClock();
  using pair = await connectionPair({ maxQueuedBytes: 1e9 }, { autoPong: false });
  pair.peerStream.pause();
  const text = 'a'.repeat(8_000_000);
  for (let beat = 1; beat <= 4; beat += 1) {
    for (let count = 0; count < 4; count += 1) pair.connection.send(text);
    const before = pair.stream.bytesWritten - pair.stream.writableLength;
    pair.peerStream.resume();
    await eventually(() => pair.stream.bytesWritten - pair.stream.writableLength > before, 'some is read');
    pair.peerStream.pause();
    await clock.advance(15_000);
  }
  expect(pair.ends()).toBe(0);
  await clock.advance(30_000);
  await clock.advance(15_000);
  expect(pair.ends()).toBe(1);
});

test('K001: a message is a sign of life as good as a pong', async () => {
  using clock = fakeClock();
  using pair = await connectionPair({}, { autoPong: false });
  for (let beat = 1; beat <= 5; beat += 1) {
    await clock.advance(15_000);
    pair.peer.send(`${beat}`);
    await eventually(() => pair.received.length === beat, `message ${beat}`);
  }
  expect(pair.ends()).toBe(0);
  await clock.advance(15_000);
  await clock.advance(15_000);
  expect(pair.ends()).toBe(1);
});

test('K001: a pong that nobody asked for counts, and pings of the peer do not', async () => {
  using clock = fakeClock();
  using pair = await connectionPair({}, { autoPong: false });
  let seen = 0;
  for (const kind of ['pong', 'ping'] as const) pair.socket.on(kind, () => void (seen += 1));
  await clock.advance(15_000);
  pair.peer.pong('unsolicited');
  await eventually(() => seen === 1, 'a pong');
  await clock.advance(15_000);
  pair.peer.ping();
  await eventually(() => seen === 2, 'a ping');
  expect(pair.ends()).toBe(0);
  await clock.advance(15_000);
  expect(pair.ends()).toBe(1);
});

test('a probe is answered by a living peer, shared by all who ask, and given up after 2 s', async () => {
  using clock = fakeClock();
  using pair = await connectionPair();
  let pings = 0;
  pair.peer.on('ping', () => void (pings += 1));
  expect(await Promise.all([pair.connection.probe(), pair.connection.probe()])).toEqual([true, true]);
  expect(pings).toBe(1);
  using silent = await connectionPair({}, { autoPong: false });
  let answer: boolean | undefined;
  const probe = silent.connection.probe().then((isAlive) => (answer = isAlive));
  await clock.advance(1_999);
  expect(answer).toBeUndefined();
  await clock.advance(1);
  expect(await probe).toBe(false);
});
