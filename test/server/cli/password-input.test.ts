import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readNewPassword } from '../../../server/src/cli/password-input.js';

/** A terminal on which somebody types, one piece for every question. */
function terminal(...answers: string[]) {
  const rawModes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => rawModes.push(isRaw),
  });
  let shown = '';
  const prompt = (text: string): void => {
    shown += text;
    const answer = text.endsWith(': ') ? answers.shift() : undefined;
    if (answer !== undefined) setImmediate(() => stdin.write(answer));
  };
  return { password: readNewPassword(stdin, prompt), rawModes, shown: () => shown };
}

test('CLI-06: a terminal is asked twice and shows nothing of the password', async () => {
  const { password, rawModes, shown } = terminal('s3cret ü\r', 's3cret ü\r');
  expect(await password).toBe('s3cret ü');
  expect(shown()).toBe('Password: \nThe same again: \n');
  expect(rawModes).toEqual([true, false]);
});

test('both answers may come at once', async () => {
  expect(await terminal('s3cret\rs3cret\r').password).toBe('s3cret');
});

test('delete and clear work while typing', async () => {
  expect(await terminal('wrong\u0015abd\u007fc\r', 'abc\n').password).toBe('abc');
});

test('two different passwords are refused', async () => {
  await expect(terminal('one\r', 'two\r').password).rejects.toThrow('the passwords are not the same');
});

test('Ctrl-C ends the question and gives the terminal back', async () => {
  const { password, rawModes } = terminal('on\u0003');
  await expect(password).rejects.toMatchObject({ exitCode: 1, message: 'cancelled' });
  expect(rawModes).toEqual([true, false]);
});

test('an empty password is refused before the second question', async () => {
  const { password, shown } = terminal('\r');
  await expect(password).rejects.toThrow('the password is empty');
  expect(shown()).toBe('Password: \n');
});

test.each([
  ['first\nsecond\n', 'first'],
  ['first\r\n', 'first'],
  ['no newline', 'no newline'],
  [' blanks count \n', ' blanks count '],
])('without a terminal %j is read up to the line end', async (text, password) => {
  const pieces = [...Buffer.from(text)].map((byte) => Buffer.of(byte));
  expect(await readNewPassword(Readable.from(pieces), () => undefined)).toBe(password);
});

test.each([
  [Buffer.from(`${'x'.repeat(1_025)}\n`), 'longer than 1024 characters'],
  [Buffer.alloc(1_000_000, 'x'), 'longer than 1024 characters'],
  [Buffer.of(0xff, 10), 'expected UTF-8 text'],
  [Buffer.from('\n'), 'the password is empty'],
])('a password that cannot be is refused', async (bytes, message) => {
  await expect(readNewPassword(Readable.from([bytes]), () => undefined)).rejects.toThrow(message);
});
