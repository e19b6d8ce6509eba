import { StringDecoder } from 'node:string_decoder';
import { MAX_PASSWORD_LENGTH } from '@remotes-hub/protocol/limits';
import type { CommandContext } from './command-context.js';
import { CommandError, exitCodes, usageError } from './exit-codes.js';

type Input = CommandContext['stdin'];

const MAX_LINE_BYTES = 16 * 1024;

/**
 * A new password: asked for twice without echo on a terminal, else the first line of standard input. `prompt`
 * writes a question; nothing that is typed is ever written.
 * @throws {CommandError} usage, when it is empty, too long or not the same twice
 */
export async function readNewPassword(stdin: Input, prompt: (text: string) => void): Promise<string> {
  if (stdin.isTTY !== true) return checked(await readLine(stdin));
  stdin.setRawMode?.(true); // before the question, so that a fast answer is not shown
  try {
    const password = checked(await answer(stdin, prompt, 'Password: '));
    if ((await answer(stdin, prompt, 'The same again: ')) === password) return password;
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
  }
  throw usageError('the passwords are not the same');
}

function checked(password: string): string {
  if (password === '') throw usageError('the password is empty');
  if (password.length <= MAX_PASSWORD_LENGTH) return password;
  throw usageError(`the password is longer than ${MAX_PASSWORD_LENGTH} characters`);
}

/** The first line, without the newline at its end; the rest is left unread. */
async function readLine(stdin: Input): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stdin) {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array)
      bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes(10) || bytes.length > MAX_LINE_BYTES) break;
  }
  const end = bytes.indexOf(10);
  const line = end === -1 ? bytes : bytes.subarray(0, end);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line).replace(/\r$/, '');
  } catch {
    throw usageError('the password: expected UTF-8 text');
  }
}

/** A line typed on a terminal that shows nothing of it. */
async function answer(stdin: Input, prompt: (text: string) => void, question: string): Promise<string> {
  prompt(question);
  try {
    return await typedLine(stdin);
  } finally {
    prompt('\n');
  }
}

function typedLine(stdin: Input): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const typed: string[] = [];
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      stdin.pause(); // what comes now belongs to the next question
      settle();
    };
    const onEnd = (): void => finish(() => resolve(typed.join('')));
    const onData = (chunk: Buffer | string): void => {
      const characters = Array.from(typeof chunk === 'string' ? chunk : decoder.write(chunk));
      for (const [index, character] of characters.entries()) {
        const key = keyOf(character);
        if (key === 'cancel') return finish(() => reject(new CommandError(exitCodes.failed, 'cancelled')));
        if (key === 'enter') {
          onEnd();
          stdin.unshift(Buffer.from(characters.slice(index + 1).join('')));
          return;
        }
        if (key === 'delete') typed.pop();
        else if (key === 'clear') typed.length = 0;
        else if (typed.length <= MAX_PASSWORD_LENGTH) typed.push(character);
      }
    };
    stdin.on('data', onData).on('end', onEnd).resume();
  });
}

/** What a key means while the terminal passes every one of them on. */
function keyOf(character: string): 'enter' | 'cancel' | 'delete' | 'clear' | 'text' {
  switch (character) {
    case '\r':
    case '\n':
    case '\u0004':
      return 'enter';
    case '\u0003':
      return 'cancel';
    case '\b':
    case '\u007f':
      return 'delete';
    case '\u0015':
      return 'clear';
    default:
      return 'text';
  }
}
