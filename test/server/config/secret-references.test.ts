import { expect, test } from 'vitest';
import { resolveSecret } from '../../../server/src/config/secret-references.js';
import { TextFileError } from '../../../server/src/config/text-file.js';

const files = new Map([
  ['/etc/hub/plain', 'from a file'],
  ['/etc/hub/newline', 'from a file\n'],
  ['/etc/hub/windows', 'from a file\r\n'],
  ['/etc/hub/two-lines', 'one\ntwo\n\n'],
  ['/etc/hub/empty', '\n'],
  ['/run/secret', 'absolute'],
]);

function resolve(reference: string): string {
  return resolveSecret(reference, {
    env: { HUB_SECRET: 'from the environment', EMPTY: '', LONG: 'x'.repeat(65_537) },
    directory: '/etc/hub',
    readFile: (path) => {
      const text = files.get(path);
      if (text === undefined) throw new TextFileError(`cannot read file ${path}: no such file`);
      return text;
    },
  });
}

test.each([
  ['env:HUB_SECRET', 'from the environment'],
  ['file:plain', 'from a file'],
  ['file:newline', 'from a file'],
  ['file:windows', 'from a file'],
  ['file:two-lines', 'one\ntwo\n'],
  ['file:../hub/plain', 'from a file'],
  ['file:/run/secret', 'absolute'],
  ['just the text', 'just the text'],
  ['ENV:HUB_SECRET', 'ENV:HUB_SECRET'],
])('CONFIG-02: %s is resolved', (reference, secret) => {
  expect(resolve(reference)).toBe(secret);
});

test.each([
  ['env:NOWHERE', 'environment variable NOWHERE is not set'],
  ['env:constructor', 'environment variable constructor is not set'],
  ['env:EMPTY', 'environment variable EMPTY is empty'],
  ['env:LONG', 'environment variable LONG is longer than 65536 bytes'],
  ['env:', '"env:" needs the name of a variable after it, as in "env:HUB_SECRET"'],
  ['file:', '"file:" needs a path after it, as in "file:secrets/hub"'],
  ['file:empty', 'file empty is empty'],
  ['file:missing', 'cannot read file /etc/hub/missing: no such file'],
])('CONFIG-02: %s is refused by name', (reference, message) => {
  expect(() => resolve(reference)).toThrow(message);
});
