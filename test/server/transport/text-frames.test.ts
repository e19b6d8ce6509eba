import { expect, test } from 'vitest';
import { SplicedText } from '../../../server/src/json/json-text.js';
import { eventually } from '../../support/eventually.js';
import { connectionPair } from './connection-pair.js';

// A client of the library that everybody uses judges the frames: one that is wrong ends its connection.

const lengths = [0, 1, 124, 125, 126, 127, 128, 255, 256, 257, 65_534, 65_535, 65_536, 65_537, 300_000];

test.each([
  ['ASCII', 'x'],
  ['two bytes a character', 'é'],
  ['control characters and what Latin-1 has', '\u0000\u0080\u00ff'],
  ['four bytes a character', '😀'],
])('texts of every length of header arrive as they are: %s', async (_what, unit) => {
  using pair = await connectionPair({ maxQueuedBytes: 1e8 });
  const sent = lengths.flatMap((length) => [
    unit.repeat(length),
    unit + 'a'.repeat(length), // of this length in ASCII but for the first
  ]);
  const got: string[] = [];
  pair.peer.on('message', (data: Buffer, isBinary) => got.push(isBinary ? 'binary' : data.toString()));
  for (const text of sent) pair.connection.send(text);
  await eventually(() => got.length === sent.length, 'all of them');
  expect(got).toEqual(sent);
});

test('one text for many connections arrives at each, between others of each', async () => {
  const pairs = await Promise.all(Array.from({ length: 5 }, async () => connectionPair()));
  const got: string[][] = pairs.map(() => []);
  for (const [index, { peer }] of pairs.entries())
    peer.on('message', (data: Buffer) => got[index]?.push(data.toString()));
  for (const text of ['to all', 'to all', 'é to all', 'é to all'])
    for (const [index, { connection }] of pairs.entries()) {
      connection.send(text);
      connection.send(`to ${index}`);
    }
  await eventually(() => got.every((texts) => texts.length === 8), 'all of them');
  for (const [index, texts] of got.entries()) {
    const own = `to ${index}`;
    expect(texts).toEqual(['to all', own, 'to all', own, 'é to all', own, 'é to all', own]);
  }
  for (const pair of pairs) pair[Symbol.dispose]();
});

test.each([
  ['{"a":', 'x'.repeat(5_000), '}'],
  ['{"é":', 'é'.repeat(5_000), ',"😀":1}'],
  ['', 'x'.repeat(125), ''],
  ['é', '', ''],
])('a spliced text arrives as one message: %#', async (before, middle, after) => {
  using pair = await connectionPair();
  const got: string[] = [];
  pair.peer.on('message', (data: Buffer) => got.push(data.toString()));
  pair.connection.send('first');
  pair.connection.send(new SplicedText(before, Buffer.from(middle), after));
  pair.connection.send('last');
  await eventually(() => got.length === 3, 'all three');
  expect(got).toEqual(['first', before + middle + after, 'last']);
});

test('a spliced text is counted with what waits for a slow peer', async () => {
  using pair = await connectionPair({ maxQueuedBytes: 10_000 });
  pair.connection.send(new SplicedText('é', Buffer.alloc(9_998, 'x'), 'a'));
  expect(pair.ends()).toBe(1);
});
