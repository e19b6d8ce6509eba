import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { closeCodes } from '@remotes-hub/protocol';
import { cutToBytes } from '../../../server/src/transport/connection.js';
import { startTestHub } from '../../support/hub.js';
import { frame, opcodes, RawSocket, upgradeRequest } from '../../support/raw-socket.js';
import { closeOf, connectionPair } from './connection-pair.js';

test.each([
  ['', 123, ''],
  ['plain', 123, 'plain'],
  ['a'.repeat(123), 123, 'a'.repeat(123)],
  ['a'.repeat(124), 123, 'a'.repeat(123)],
  ['é'.repeat(62), 123, 'é'.repeat(61)],
  [`a${'é'.repeat(61)}`, 123, `a${'é'.repeat(61)}`],
  ['漢'.repeat(42), 123, '漢'.repeat(41)],
  ['🙂'.repeat(31), 123, '🙂'.repeat(30)],
  ['🙂', 3, ''],
  ['\uD800'.repeat(50), 123, '\uD800'.repeat(41)],
  ['abc', 0, ''],
])('K022: %j cut to %i bytes is %j', (text, maxBytes, expected) => {
  expect(cutToBytes(text, maxBytes)).toBe(expected);
});

test('K022: a cut text is the longest beginning that fits and breaks no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-composite', maxLength: 80 }), fc.nat(150), (text, maxBytes) => {
      const cut = cutToBytes(text, maxBytes);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
      const next = text.slice(cut.length).match(/^./su)?.[0];
      if (next !== undefined) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(maxBytes);
    }),
  );
});

test.each([
  ['a name of 300 characters', `remote '${'n'.repeat(300)}' is gone`, `remote '${'n'.repeat(115)}`],
  ['62 two-byte characters', 'é'.repeat(62), 'é'.repeat(61)],
  ['a short text', 'the hub is going away', 'the hub is going away'],
  ['nothing', '', ''],
])('K022: a reason that holds %s reaches the peer, cut at a character', async (_what, reason, expected) => {
  using pair = await connectionPair();
  const closed = closeOf(pair.peer);
  pair.connection.close(closeCodes.goingAway, reason);
  expect(await closed).toEqual({ code: 1001, reason: expected });
  expect(pair.ends()).toBe(1);
});

test('K022: every code that a hub closes with may be sent', async () => {
  for (const code of Object.values(closeCodes)) {
    using pair = await connectionPair();
    const closed = closeOf(pair.peer);
    pair.connection.close(code, 'why');
    expect(await closed).toEqual({ code, reason: 'why' });
  }
});

test('K022: closing twice, or after the peer has gone, is harmless and ends once', async () => {
  using pair = await connectionPair();
  const closed = closeOf(pair.peer);
  pair.connection.close(closeCodes.protocolAbuse, 'first');
  pair.connection.close(closeCodes.goingAway, 'second');
  pair.connection.send('too late');
  expect(await closed).toEqual({ code: 4400, reason: 'first' });
  pair.connection.close(closeCodes.goingAway, 'third');
  pair.connection.terminate();
  expect(await pair.connection.probe()).toBe(false);
  expect(pair.ends()).toBe(1);
});

test.each([
  ['without a status', ''],
  ['with 1000', Buffer.from([0x03, 0xe8])],
  ['with 1001 and a reason', Buffer.concat([Buffer.from([0x03, 0xe9]), Buffer.from('bye')])],
  ['with 3000', Buffer.from([0x0b, 0xb8])],
  ['with 4999', Buffer.from([0x13, 0x87])],
])('K022: a peer that closes %s is answered in kind and leaves nothing', async (_what, payload) => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token()}` }));
  await raw.until('session-opened');
  const before = raw.text.length;
  raw.write(frame(opcodes.close, payload));
  const answer = Buffer.from((await raw.rest()).slice(before), 'latin1');
  expect(answer[0]).toBe(0x88);
  expect(answer.subarray(2)).toEqual(Buffer.from(payload));
  await hub.idle();
});

test('frames that follow a close frame, or come after the hub has closed, are not carried out', async () => {
  using pair = await connectionPair();
  pair.connection.close(closeCodes.goingAway, 'over');
  pair.peer.send('late');
  await closeOf(pair.peer);
  expect(pair.received).toEqual([]);

  await using hub = await startTestHub();
  const other = await hub.connect();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token()}` }));
  await raw.until('session-opened');
  const connect = JSON.stringify({ action: 'remote-connect', body: { remotename: 'x', tools: [] } });
  raw.write(Buffer.concat([frame(opcodes.close, ''), frame(opcodes.text, connect)]));
  await raw.rest();
  expect(await other.remotes()).toEqual([]);
});

test('a connection that the peer cuts in the middle of a frame leaves nothing', async () => {
  await using hub = await startTestHub();
  for (const cut of ['resetAndDestroy', 'destroy', 'end'] as const) {
    using raw = await RawSocket.open(hub.url);
    raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token()}` }));
    await raw.until('session-opened');
    raw.write(frame(opcodes.text, 'x'.repeat(1_000)).subarray(0, 500));
    raw.socket[cut]();
    await hub.idle();
  }
});
