import { expect, test, vi } from 'vitest';
import { MessageRate } from '../../../server/src/transport/message-rate.js';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { connectionPair } from './connection-pair.js';

/** How many are taken until one is refused. */
function burst(rate: MessageRate): number {
  let taken = 0;
  while (rate.take()) taken += 1;
  return taken;
}

test('LIMIT-01: as many messages at once as in a second, and then as fast as the second goes by', async () => {
  using clock = fakeClock();
  const rate = new MessageRate(1_000);
  expect(burst(rate)).toBe(1_000);
  await clock.advance(1);
  expect(burst(rate)).toBe(1);
  await clock.advance(250);
  expect(burst(rate)).toBe(250);
  await clock.advance(3_600_000);
  expect(burst(rate)).toBe(1_000);
});

test('LIMIT-01: a pause before, or a few messages in it, never doubles what may come at once', async () => {
  using clock = fakeClock();
  const idle = new MessageRate(100);
  await clock.advance(10_000);
  expect(burst(idle)).toBe(100);
  const busy = new MessageRate(100);
  for (let taken = 0; taken < 50; taken += 1) busy.take();
  await clock.advance(10_000);
  expect(burst(busy)).toBe(100);
});

test('LIMIT-01: less than one message a millisecond adds up; a clock that goes back takes nothing away', async () => {
  using clock = fakeClock(1_000_000);
  const slow = new MessageRate(2);
  expect(burst(slow)).toBe(2);
  for (let step = 0; step < 4; step += 1) {
    await clock.advance(125);
    expect(slow.take()).toBe(step === 3);
  }
  const rate = new MessageRate(10);
  vi.setSystemTime(0);
  expect(burst(rate)).toBe(10);
  await clock.advance(100);
  expect(burst(rate)).toBe(1);
});

test('LIMIT-01: message 50,001 within a second closes its session alone with 4429, and all before are answered', async () => {
  using _clock = fakeClock();
  await using hub = await startTestHub();
  const other = await hub.connect();
  const fast = await hub.connect();
  let answers = 0;
  fast.socket.on('message', () => (answers += 1));
  for (let sent = 0; sent < 50_000; sent += 1) fast.socket.send('{"action":"ping"}');
  await eventually(() => answers === 50_000, 'every answer');
  fast.socket.send('{"action":"remote-connect","body":{"remotename":"x","tools":[]}}');
  expect(await fast.end()).toEqual({ code: 4429, reason: 'more than 50000 messages a second' });
  expect(await other.remotes()).toEqual([]);
  await hub.idle(1);
});

test.each(['ping', 'pong'] as const)('LIMIT-01: %s frames count like messages', async (kind) => {
  using _clock = fakeClock();
  using pair = await connectionPair({ maxMessagesPerSecond: 20 });
  const closed = new Promise((resolve) => pair.peer.once('close', resolve));
  for (let sent = 0; sent < 21; sent += 1) pair.peer[kind]();
  expect(await closed).toBe(4429);
});

test('LIMIT-01: frames that are refused count too, before login as after it', async () => {
  using _clock = fakeClock();
  await using hub = await startTestHub({ limits: { maxMessagesPerSecond: 20 } });
  for (const session of [await hub.connect(), await hub.open()]) {
    for (let sent = 0; sent < 21; sent += 1) session.send(sent % 2 === 0 ? 'no JSON' : '{"action":"nope"}');
    expect(await session.end()).toMatchObject({ code: 4429 });
    expect(session.others).toHaveLength(20);
  }
  await hub.idle();
});
