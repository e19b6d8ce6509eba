import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { TurnCork } from '@remotes-hub/client/turn-cork';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { connectionPair } from './connection-pair.js';

/** A stream that keeps what each write to the system would hold. */
function recordingStream() {
  const writes: string[][] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => (writes.push([chunk]), done()),
    writev: (chunks, done) => (writes.push(chunks.map(({ chunk }) => String(chunk))), done()),
  });
  const cork = new TurnCork(stream);
  const send = (text: string): void => {
    cork.beforeFrame();
    stream.write(text);
  };
  return { writes, stream, cork, send };
}

test('a lone frame is written at once', () => {
  const { writes, send } = recordingStream();
  send('a');
  expect(writes).toEqual([['a']]);
});

test('the frames of one turn after the first leave together, in order, when the turn ends', async () => {
  const { writes, send } = recordingStream();
  for (const text of ['a', 'b', 'c', 'd']) send(text);
  expect(writes).toEqual([['a']]);
  await setImmediate();
  expect(writes).toEqual([['a'], ['b', 'c', 'd']]);
});

test('each turn begins anew, and nothing is left held', async () => {
  const { writes, send, stream } = recordingStream();
  for (let turn = 0; turn < 3; turn += 1) {
    send(`${turn} first`);
    send(`${turn} second`);
    await setImmediate();
  }
  expect(writes).toHaveLength(6);
  expect(stream.writableCorked).toBe(0);
});

test('what is held can be let go in the middle of a turn, and more frames are held again', async () => {
  const { writes, send, cork, stream } = recordingStream();
  send('a');
  send('b');
  cork.release();
  cork.release(); // harmless
  expect(writes).toEqual([['a'], ['b']]);
  send('c');
  send('d');
  expect(writes).toEqual([['a'], ['b']]);
  await setImmediate();
  expect(writes).toEqual([['a'], ['b'], ['c', 'd']]);
  expect(stream.writableCorked).toBe(0);
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
