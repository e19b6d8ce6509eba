import { expect, test } from 'vitest';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { frame, opcodes, RawSocket, upgradeRequest } from '../../support/raw-socket.js';

/** A logged-in connection that sends frames by hand. */
async function rawSession(hub: TestHub, user = 'u1'): Promise<RawSocket> {
  const raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token(user)}` }));
  await raw.until('session-opened');
  return raw;
}

/** The code in the close frame that ended a connection; the bytes before it are of text frames. */
async function closeCodeOf(raw: RawSocket): Promise<number> {
  await raw.until('\x88');
  raw.write(frame(opcodes.close, ''));
  const bytes = Buffer.from(await raw.rest(), 'latin1');
  return bytes.readUInt16BE(bytes.lastIndexOf(0x88) + 2);
}

const binaryRefusal = { error: 'binary frame: messages are text', code: 'malformed-message' };

test('WIRE-12: eight binary frames get malformed-message, the ninth closes the session with 1003', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const other = await hub.connect();
  for (let sent = 0; sent < 8; sent += 1) {
    session.socket.send(Buffer.from('{"action":"remote-list","nonce":1}'), { binary: true });
    expect(await session.next()).toEqual(binaryRefusal);
    await session.settle();
  }
  session.socket.send(Buffer.alloc(0), { binary: true });
  expect(await session.end()).toEqual({ code: 1003, reason: 'frames must be text' });
  await other.settle();
  await hub.idle(1);
});

test('WIRE-12: binary frames before login are refused in the same words and count the same', async () => {
  await using hub = await startTestHub();
  const connection = await hub.open();
  for (let sent = 0; sent < 9; sent += 1) connection.socket.send(Buffer.from('{}'), { binary: true });
  expect(await connection.end()).toMatchObject({ code: 1003 });
  expect(connection.others).toEqual(Array.from({ length: 8 }, () => binaryRefusal));
  await hub.idle();
});

test('K003: a frame above the limit closes its own session with 1009, and calls of others go on', async () => {
  await using hub = await startTestHub();
  const serving = await hub.connect();
  const caller = await hub.connect();
  const tooBig = await hub.connect();
  await serving.serve('x', ['f']);
  const reply = caller.call('x', 'f', {});
  await serving.next('remote-call');

  const envelope = '{"action":"ping","nonce":1,"x":""}';
  const padding = 'a'.repeat(4 * 1024 * 1024 - envelope.length);
  tooBig.send(envelope.replace('""', `"${padding}"`));
  expect(await tooBig.reply(1)).toEqual({ message: 'pong', nonce: 1 });
  tooBig.send(envelope.replace('""', `"${padding}a"`));
  expect(await tooBig.end()).toMatchObject({ code: 1009 });

  serving.send({ action: 'remote-call-result', requestId: 'x#0', result: 'fine' });
  expect(await reply).toMatchObject({ result: 'fine' });
  expect([serving.isOpen, caller.isOpen]).toEqual([true, true]);
  await hub.idle(2);
});

test('K003: the limit counts bytes of the whole message, fragments together', async () => {
  await using hub = await startTestHub({ limits: { maxMessageBytes: 2_048 } });
  using fits = await rawSession(hub);
  const message = Buffer.from(`{"action":"ping","nonce":1,"x":"${'é'.repeat(1_007)}"}`);
  expect(message.length).toBe(2_048);
  fits.write(frame(opcodes.text, message.subarray(0, 1_001), { fin: false }));
  fits.write(frame(opcodes.ping, 'in between'));
  fits.write(frame(opcodes.continuation, '', { fin: false }));
  fits.write(frame(opcodes.continuation, message.subarray(1_001)));
  await fits.until('{"message":"pong","nonce":1}');

  fits.write(frame(opcodes.text, message, { fin: false }));
  fits.write(frame(opcodes.continuation, ' '));
  expect(await closeCodeOf(fits)).toBe(1009);
  await hub.idle();
});

test('K003: a length of 2^63 in the head of a frame is refused without waiting for it', async () => {
  await using hub = await startTestHub();
  using raw = await rawSession(hub);
  raw.write(Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
  expect(await closeCodeOf(raw)).toBe(1009);
});

test.each([
  ['a lone continuation byte', [0xc3, 0x28]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['a character cut off', [0x22, 0xf0, 0x9f, 0x99]],
  ['latin-1 within JSON', [...Buffer.from('{"action":"ping","x":"'), 0xe9, 0x22, 0x7d]],
])(
  'K005: %s closes its own session with 1007, is logged once, and no other session notices',
  async (_what, bytes) => {
    await using hub = await startTestHub();
    const other = await hub.connect();
    using raw = await rawSession(hub, 'u2');
    raw.write(frame(opcodes.text, Buffer.from(bytes)));
    expect(await closeCodeOf(raw)).toBe(1007);
    await other.settle();
    expect(other.frames).toHaveLength(2);
    expect(hub.logs.filter(({ msg }) => msg === 'connection failed')).toHaveLength(1);
    await hub.idle(1);
  },
);

test('K005: UTF-8 is checked over the whole message: a character may be split between fragments', async () => {
  await using hub = await startTestHub();
  using raw = await rawSession(hub);
  const bytes = Buffer.from('{"action":"ping","nonce":"é"}');
  const middle = bytes.indexOf(0xc3) + 1;
  raw.write(frame(opcodes.text, bytes.subarray(0, middle), { fin: false }));
  raw.write(frame(opcodes.continuation, bytes.subarray(middle)));
  await raw.until(Buffer.from('{"message":"pong","nonce":"é"}').toString('latin1'));
});

test.each([
  ['an unmasked frame', [frame(opcodes.text, '{}', { masked: false })]],
  ['an opcode that is reserved', [frame(3, '{}')]],
  ['a continuation of nothing', [frame(opcodes.continuation, '{}')]],
  [
    'a text frame within a fragmented message',
    [frame(opcodes.text, '{', { fin: false }), frame(opcodes.text, '}')],
  ],
  ['a ping in fragments', [frame(opcodes.ping, 'x', { fin: false })]],
  ['a ping of 126 bytes', [frame(opcodes.ping, 'x'.repeat(126))]],
  ['a compressed frame that was not negotiated', [Buffer.from([0xc1, 0x80, 0, 0, 0, 0])]],
  ['a close code that must not be sent', [frame(opcodes.close, Buffer.from([0x03, 0xed]))]],
  ['a close frame of one byte', [frame(opcodes.close, Buffer.from([3]))]],
])('%s ends its own session alone, with the code of RFC 6455', async (_what, frames) => {
  await using hub = await startTestHub();
  const other = await hub.connect();
  using raw = await rawSession(hub);
  raw.write(Buffer.concat(frames));
  expect(await closeCodeOf(raw)).toBe(1002);
  await other.settle();
  await hub.idle(1);
});

test('a message in more fragments than anybody needs closes its session before they fill the memory', async () => {
  await using hub = await startTestHub();
  using raw = await rawSession(hub);
  raw.write(frame(opcodes.text, '{', { fin: false }));
  const piece = frame(opcodes.continuation, ' ', { fin: false });
  raw.write(Buffer.concat(Array.from({ length: 20_000 }, () => piece)));
  expect(await closeCodeOf(raw)).toBe(1008);
  await hub.idle();
});
