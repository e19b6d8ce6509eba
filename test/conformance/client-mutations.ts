import { changing, readMessage, type Mutation } from './mutating-proxy.js';

type Message = Record<string, unknown>;

const isResult = (message: Message): boolean =>
  message['action'] === 'remote-call-result' && 'result' in message;
const isFailure = (message: Message): boolean =>
  message['action'] === 'remote-call-result' && 'error' in message;
const isCall = (message: Message): boolean => message['action'] === 'remote-call';

/** Uses one nonce for every call; the replies are taken in the order of the calls. */
function oneNonce(): Mutation {
  const nonces: unknown[] = [];
  return {
    fromClient: changing(isCall, ({ nonce, ...rest }) => {
      nonces.push(nonce);
      return [{ ...rest, nonce: 'same' }];
    }),
    fromHub: changing(
      (message) => message['nonce'] === 'same',
      (message) => [{ ...message, nonce: nonces.shift() }],
    ),
  };
}

/** Takes a call that is delivered again for another one. */
function forgetfulOfIds(): Mutation {
  const aliases = new Map<string, string>();
  let count = 0;
  return {
    fromHub: changing(isCall, (message) => {
      count += 1;
      const alias = `${String(message['requestId']).replace(/#\d+$/u, '')}#${count}`;
      aliases.set(alias, String(message['requestId']));
      return [{ ...message, requestId: alias }];
    }),
    fromClient: (text) => {
      const message = readMessage(text);
      const requestId = aliases.get(String(message['requestId']));
      return [requestId === undefined ? text : JSON.stringify({ ...message, requestId })];
    },
  };
}

/** Starts a call when the one before it is answered. */
function oneAtATime(): Mutation {
  const held: string[] = [];
  let busyWith: unknown;
  return {
    fromHub: (text) => {
      const message = readMessage(text);
      if (!isCall(message) || !/#\d+$/u.test(String(message['requestId']))) return [text];
      if (busyWith !== undefined) {
        held.push(text);
        return [];
      }
      busyWith = message['requestId'];
      return [text];
    },
    fromClient: (text, reply) => {
      if (readMessage(text)['requestId'] !== busyWith) return [text];
      const next = held.shift();
      busyWith = next === undefined ? undefined : readMessage(next)['requestId'];
      if (next !== undefined) reply(next);
      return [text];
    },
  };
}

/** Clients that break one rule: its id, what they do, and how. */
export const clientMutations: readonly [id: string, what: string, mutate: () => Mutation][] = [
  [
    'CLIENT-05',
    'sends fields of its own',
    () => ({ fromClient: changing(isResult, (message) => [{ ...message, durationMs: 1 }]) }),
  ],
  ['CLIENT-06', 'uses a nonce twice', oneNonce],
  [
    'CLIENT-07',
    'answers actions that it does not know',
    () => ({
      fromHub: (text) => [
        readMessage(text)['action'] === 'remote-calls' ? text.replace('remote-calls', 'remote-call') : text,
      ],
    }),
  ],
  ['CLIENT-10', 'answers no pings', () => ({ passesPings: false })],
  ['CLIENT-11', 'answers twice', () => ({ fromClient: changing(isResult, (message) => [message, message]) })],
  [
    'CLIENT-11',
    'takes the number of a request id for a number',
    () => ({
      fromClient: changing(isResult, (message) => [
        {
          ...message,
          requestId: String(message['requestId']).replace(/\d+$/u, (digits) => String(Number(digits))),
        },
      ]),
    }),
  ],
  [
    'CLIENT-12',
    'takes the name to end at the first #',
    () => ({
      fromHub: changing(
        (message) => isCall(message) && /#.*#/u.test(String(message['requestId'])),
        (message) => [{ ...message, requestId: String(message['requestId']).replace(/#\d+$/u, '') }],
      ),
    }),
  ],
  [
    'CLIENT-13',
    'takes falsy results for none',
    () => ({
      fromClient: changing(isResult, ({ result, ...rest }) => [result ? { ...rest, result } : rest]),
    }),
  ],
  [
    'CLIENT-14',
    'knows Latin letters only',
    () => ({ fromClient: (text) => [text.replace(/[\u0100-\u{10ffff}]/gu, '?')] }),
  ],
  [
    'CLIENT-15',
    'answers with an error that is an object',
    () => ({
      fromClient: changing(isFailure, (message) => [{ ...message, error: { message: message['error'] } }]),
    }),
  ],
  [
    'CLIENT-15',
    'answers with a stack trace',
    () => ({
      fromClient: changing(isFailure, (message) => [
        { ...message, error: `${String(message['error'])}\n    at run (client.js:1:1)` },
      ]),
    }),
  ],
  [
    'CLIENT-16',
    'does not answer calls of functions that it lacks',
    () => ({
      fromClient: changing(
        (message) => isFailure(message) && message['executed'] === 'no',
        () => [],
      ),
    }),
  ],
  ['CLIENT-17', 'runs again what is delivered again', forgetfulOfIds],
  ['CLIENT-18', 'runs one call at a time', oneAtATime],
  [
    'CLIENT-19',
    'does not stop what is cancelled',
    () => ({
      fromHub: changing(
        (message) => message['action'] === 'remote-call-cancel',
        () => [],
      ),
    }),
  ],
  [
    'CLIENT-20',
    'tells no progress',
    () => ({
      fromClient: changing(
        (message) => message['action'] === 'remote-call-progress',
        () => [],
      ),
    }),
  ],
  [
    'CLIENT-22',
    'takes an error for a result',
    () => ({
      fromHub: changing(
        (message) => 'error' in message,
        ({ nonce }) => [{ result: null, nonce }],
      ),
    }),
  ],
  [
    'CLIENT-24',
    'does not look at the size of its frames',
    () => ({
      fromHub: changing(
        (message) => 'maxMessageBytes' in message,
        (message) => [{ ...message, maxMessageBytes: 4_194_304 }],
      ),
    }),
  ],
  [
    'CLIENT-23',
    'cuts what is long',
    () => ({
      fromClient: changing(isResult, ({ result, ...rest }) => [
        { ...rest, result: typeof result === 'string' ? result.slice(0, 65_536) : result },
      ]),
    }),
  ],
];
