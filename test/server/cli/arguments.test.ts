import { expect, test } from 'vitest';
import { remoteArgument } from '../../../server/src/cli/arguments.js';
import { socketUrl } from '../../../server/src/cli/hub-connection.js';
import { Output, printable } from '../../../server/src/cli/output.js';

test.each([
  ['http://127.0.0.1:7465', 'ws://127.0.0.1:7465/ws'],
  ['http://127.0.0.1:7465/', 'ws://127.0.0.1:7465/ws'],
  ['https://hub.example', 'wss://hub.example/ws'],
  ['HTTPS://hub.example', 'wss://hub.example/ws'],
  ['ws://hub.example:80', 'ws://hub.example/ws'],
  ['wss://hub.example/other/path', 'wss://hub.example/other/path'],
  ['https://hub.example/ws?x=1#y', 'wss://hub.example/ws?x=1'],
])('the endpoint of %s is %s', (text, url) => {
  expect(socketUrl(text)).toBe(url);
});

test.each([
  ['weather', ['weather']],
  ['weather=w_', [{ name: 'weather', prefix: 'w_' }]],
  ['a=b=', ['a=b']],
  ['a=b=c', [{ name: 'a=b', prefix: 'c' }]],
])('--remote %s is %j', (text, selections) => {
  expect(remoteArgument(text)).toEqual(selections);
  expect(remoteArgument(text, ['before'])).toEqual(['before', ...selections]);
});

test('control characters are shown, newlines and tabs are kept', () => {
  expect(printable('a\u001b[2J\u0007\u009bb\tc\n\u007f')).toBe('a\\x1b[2J\\x07\\x9bb\tc\n\\x7f');
});

test('results are changed for a terminal only', () => {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  new Output({ write, isTTY: true }, { write }).line('\u001b');
  new Output({ write }, { write }).line('\u001b');
  expect(written).toEqual(['\\x1b\n', '\u001b\n']);
});
