import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { closeCodes } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { Outbox } from '../../../server/src/transport/outbox.js';
import { eventually } from '../../support/eventually.js';
import { connectionPair, type ConnectionPair } from './connection-pair.js';

/** An outbox before a stream that keeps what each write to the system would hold; it writes when it is told to. */
function recordingOutbox() {
  const writes: string[][] = [];
  const waiting: (() => void)[] = [];
  const isSlow = { value: false };
  const written = (done: () => void): void => {
    if (isSlow.value) waiting.push(done);
    else done();
  };
  const stream = new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => (writes.push([chunk.toString('latin1')]), written(done)),
    writev: (chunks, done) => (
      writes.push(chunks.map(({ chunk }) => (chunk as Buffer).toString('latin1'))),
      written(done)
    ),
  });
  return { writes, stream, isSlow, waiting, outbox: new Outbox(stream) };
}

const nextTick = async (): Promise<void> =>
  new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });

test('the frames of one turn leave as one text, in order, when its work is done and before anything else happens', async () => {
  const { writes, outbox } = recordingOutbox();
  for (const text of ['a', 'b', 'c']) outbox.write(text);
  expect(writes).toEqual([]);
  await nextTick();
  expect(writes).toEqual([['abc']]);
});

test('of many frames in one turn sixteen at a time leave, so that the other side can begin', async () => {
  const { writes, outbox } = recordingOutbox();
  for (let n = 0; n < 40; n += 1) outbox.write('x');
  expect(writes.map(([text]) => text?.length)).toEqual([16, 16]);
  await setImmediate();
  expect(writes.map(([text]) => text?.length)).toEqual([16, 16, 8]);
});

test('each turn begins anew', async () => {
  const { writes, outbox } = recordingOutbox();
  for (let turn = 0; turn < 3; turn += 1) {
    for (let n = 0; n < 9; n += 1) outbox.write(String(turn));
    await setImmediate();
  }
  expect(writes).toEqual([['000000000'], ['111111111'], ['222222222']]);
});

test('bytes are passed on as they are, between the texts before and after them, in one write', async () => {
  const { writes, outbox } = recordingOutbox();
  const bytes = Buffer.from('é', 'utf8');
  outbox.write('a');
  outbox.write('<', bytes, Buffer.from('>'));
  outbox.write(Buffer.from('frame'));
  outbox.write('b');
  outbox.write('c');
  await nextTick();
  expect(writes).toEqual([['a<', bytes.toString('latin1'), '>', 'frame', 'bc']]);
});

test('a frame that ends with bytes leaves nothing held', async () => {
  const { writes, outbox } = recordingOutbox();
  outbox.write('<', Buffer.from('bytes'));
  await nextTick();
  expect(writes.flat().join('')).toBe('<bytes');
  expect(outbox.queuedBytes).toBe(0);
});

test('much is not held for more to come', () => {
  const { writes, outbox } = recordingOutbox();
  outbox.write('<', Buffer.alloc(100_000), Buffer.from('>'));
  expect(writes).toHaveLength(1);
});

test('what waits is counted, here and in the stream', async () => {
  const { outbox, isSlow, waiting } = recordingOutbox();
  isSlow.value = true;
  outbox.write('abc', Buffer.from('de'));
  expect(outbox.queuedBytes).toBe(5);
  await nextTick();
  expect(outbox.queuedBytes).toBe(5);
  outbox.write('f');
  expect(outbox.queuedBytes).toBe(6);
  isSlow.value = false;
  waiting.pop()?.();
  await setImmediate();
  expect(outbox.queuedBytes).toBe(0);
});

test('what is held can be let go in the middle of a turn, and more frames are held again', async () => {
  const { writes, outbox } = recordingOutbox();
  outbox.flush(); // harmless
  outbox.write('a');
  outbox.write('b');
  outbox.flush();
  outbox.flush();
  expect(writes).toEqual([['ab']]);
  outbox.write('c');
  outbox.write('d');
  expect(writes).toEqual([['ab']]);
  await setImmediate();
  expect(writes).toEqual([['ab'], ['cd']]);
});

test('what is held when the stream ends is dropped without an error', async () => {
  const { writes, stream, outbox } = recordingOutbox();
  outbox.write('a');
  stream.end();
  await setImmediate();
  expect(writes).toEqual([]);
  expect(outbox.queuedBytes).toBe(0);
});

test('frames sent in the turn in which a connection is cut still arrive', async () => {
  using pair = await connectionPair();
  const got: string[] = [];
  pair.peer.on('message', (data: Buffer) => got.push(data.toString()));
  for (let n = 0; n < 20; n += 1) pair.connection.send(`frame ${n}`);
  pair.connection.terminate();
  await eventually(() => got.length === 20, 'all frames arrive');
  expect(got.at(-1)).toBe('frame 19');
});

test('frames sent in the turn of a close arrive before it', async () => {
  using pair = await connectionPair();
  const got: string[] = [];
  pair.peer.on('message', (data: Buffer) => got.push(data.toString()));
  pair.peer.on('close', (code) => got.push(String(code)));
  for (let n = 0; n < 3; n += 1) pair.connection.send(`frame ${n}`);
  pair.connection.close(1001, 'bye');
  await eventually(() => got.length === 4, 'all frames arrive');
  expect(got).toEqual(['frame 0', 'frame 1', 'frame 2', '1001']);
});

/** Answers every message of the peer. @returns what the peer gets, its close last */
function answering({ connection, peer }: ConnectionPair): readonly string[] {
  const got: string[] = [];
  connection.deliverTo({
    who: {},
    receive: (frame) => connection.send(`reply to ${frame.toString()}`),
    receiveBinary: () => undefined,
    end: () => undefined,
  });
  peer.on('message', (data: Buffer) => got.push(data.toString()));
  peer.on('close', (code) => got.push(String(code)));
  return got;
}

test('what was answered in the turn in which the peer closes arrives before its close is answered', async () => {
  using pair = await connectionPair();
  const got = answering(pair);
  pair.peerStream.cork();
  pair.peer.send('a');
  pair.peer.send('b');
  pair.peer.close(closeCodes.goingAway);
  pair.peerStream.uncork();
  await eventually(() => got.length === 3, 'all frames arrive');
  expect(got).toEqual(['reply to a', 'reply to b', '1001']);
});

test('what was answered in the turn in which the peer breaks the rules of frames arrives before the close', async () => {
  using pair = await connectionPair();
  const got = answering(pair);
  pair.peerStream.cork();
  pair.peer.send('a');
  pair.peerStream.write(Buffer.from([0x83, 0x80, 0, 0, 0, 0])); // opcode 3 is reserved
  pair.peerStream.uncork();
  await eventually(() => got.length === 2, 'all frames arrive');
  expect(got).toEqual(['reply to a', '1002']);
});
