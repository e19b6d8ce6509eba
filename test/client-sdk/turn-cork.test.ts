import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TurnCork } from '../../client-sdk/src/node/turn-cork.js';

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

test('the frames of one turn leave together, in order, when its work is done and before anything else happens', async () => {
  const { writes, send } = recordingStream();
  for (const text of ['a', 'b', 'c']) send(text);
  expect(writes).toEqual([]);
  await new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });
  expect(writes).toEqual([['a', 'b', 'c']]);
});

test('of many frames in one turn sixteen at a time leave, so that the other side can begin', async () => {
  const { writes, send } = recordingStream();
  const texts = Array.from({ length: 40 }, (_, index) => `frame ${index}`);
  for (const text of texts) send(text);
  expect(writes.map(({ length }) => length)).toEqual([16, 16]);
  await setImmediate();
  expect(writes.map(({ length }) => length)).toEqual([16, 16, 8]);
  expect(writes.flat()).toEqual(texts);
});

test('each turn begins anew, and nothing is left held', async () => {
  const { writes, send, stream } = recordingStream();
  for (let turn = 0; turn < 3; turn += 1) {
    send(`${turn} first`);
    send(`${turn} second`);
    await setImmediate();
    expect(stream.writableCorked).toBe(0);
  }
  expect(writes).toEqual([0, 1, 2].map((turn) => [`${turn} first`, `${turn} second`]));
});

test('what is held can be let go in the middle of a turn, and more frames are held again', async () => {
  const { writes, send, cork, stream } = recordingStream();
  cork.release(); // harmless
  send('a');
  send('b');
  cork.release();
  cork.release();
  expect(writes).toEqual([['a', 'b']]);
  send('c');
  send('d');
  expect(writes).toEqual([['a', 'b']]);
  await setImmediate();
  expect(writes).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(stream.writableCorked).toBe(0);
});
