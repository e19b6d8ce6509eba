import { changing, readMessage, type Mutation } from './mutating-proxy.js';

type Fits = (message: Record<string, unknown>) => boolean;

const isReply: Fits = (message) => !('action' in message);
const isError: Fits = (message) => 'error' in message;
const hasAction =
  (action: string): Fits =>
  (message) =>
    message['action'] === action;
const hasCode =
  (code: string): Fits =>
  (message) =>
    message['code'] === code;

/** The message without one of its members. */
const without =
  (name: string) =>
  (message: Record<string, unknown>): readonly object[] => [{ ...message, [name]: undefined }];

/** Sends the reply to `remote-disconnect` after its event. */
function lateReplies(): Mutation {
  let held: string | undefined;
  return {
    fromHub: (text) => {
      const message = readMessage(text);
      if (message['message'] === 'remote disconnected') {
        held = text;
        return [];
      }
      const late = hasAction('remote-disconnected')(message) ? held : undefined;
      if (late === undefined) return [text];
      held = undefined;
      return [text, late];
    },
  };
}

/** Holds every call of a caller until the one before it is answered. */
function oneCallAtATime(): Mutation {
  const waiting: string[] = [];
  let isBusy = false;
  return {
    fromClient: (text) => {
      if (!hasAction('remote-call')(readMessage(text))) return [text];
      if (isBusy) {
        waiting.push(text);
        return [];
      }
      isBusy = true;
      return [text];
    },
    fromHub: (text) => [text], // never lets the next one go: the caller's second call hangs
  };
}

/** Hubs that break one rule: its id, what they do, and how. */
export const hubMutations: readonly [id: string, what: string, mutate: () => Mutation][] = [
  [
    'WIRE-06',
    'writes the nonce anew',
    () => ({
      fromHub: changing(
        (message) => isReply(message) && typeof message['nonce'] !== 'string',
        (message) => [message],
      ),
    }),
  ],
  [
    'WIRE-08',
    'drops the nonce of errors',
    () => ({
      fromHub: changing((message) => isError(message) && 'nonce' in message, without('nonce')),
    }),
  ],
  [
    'WIRE-13',
    'tells more in a pong',
    () => ({
      fromHub: changing(
        (message) => message['message'] === 'pong',
        (message) => [{ ...message, time: 1 }],
      ),
    }),
  ],
  ['WIRE-02', 'ignores unknown actions', () => ({ fromHub: changing(hasCode('unknown-action'), () => []) })],
  [
    'WIRE-03',
    'does not say which field is wrong',
    () => ({ fromHub: changing(hasCode('invalid-body'), (message) => [{ ...message, error: 'invalid' }]) }),
  ],
  [
    'WIRE-04',
    'refuses unknown fields',
    () => ({
      fromClient: (text, reply) => {
        const { colour, nonce } = readMessage(text);
        if (colour === undefined) return [text];
        reply(JSON.stringify({ error: 'unknown field', code: 'invalid-body', nonce }));
        return [];
      },
    }),
  ],
  [
    'WIRE-09',
    'answers results',
    () => ({
      fromClient: (text, reply) => {
        if (hasAction('remote-call-result')(readMessage(text))) reply('{"message":"thanks"}');
        return [text];
      },
    }),
  ],
  ['WIRE-10', 'sends an event before the reply', lateReplies],
  ['WIRE-11', 'selects remotes.v1 whatever is offered', () => ({ subprotocol: 'remotes.v1' })],
  ['K003', 'closes with 1000', () => ({ closeCode: () => 1000 })],
  [
    'K011',
    'takes a token in the query',
    () => ({
      upgrade: (url, headers) => {
        const token = url.searchParams.get('token');
        if (token !== null) headers['authorization'] = `Bearer ${token}`;
      },
    }),
  ],
  ['AUTH-02', 'refuses with 403', () => ({ refusal: () => 403 })],
  [
    'AUTH-04',
    'does not tell the largest frame',
    () => ({
      fromHub: changing((message) => message['message'] === 'authenticated', without('maxMessageBytes')),
    }),
  ],
  [
    'EVENT-01',
    'sends no remote-connected',
    () => ({ fromHub: changing(hasAction('remote-connected'), () => []) }),
  ],
  [
    'REMOTE-08',
    'never warns',
    () => ({
      fromHub: changing((message) => 'warnings' in message, without('warnings')),
    }),
  ],
  [
    'REMOTE-13',
    'lists the other way round',
    () => ({
      fromHub: changing(
        (message) => 'remotes' in message,
        (message) => [{ ...message, remotes: (message['remotes'] as unknown[]).toReversed() }],
      ),
    }),
  ],
  [
    'CALL-02',
    'gives another code',
    () => ({
      fromHub: changing(hasCode('remote-not-connected'), (message) => [
        { ...message, code: 'function-not-found' },
      ]),
    }),
  ],
  [
    'CALL-05',
    'forwards more fields',
    () => ({ fromHub: changing(hasAction('remote-call'), (message) => [{ ...message, userId: 'u1' }]) }),
  ],
  [
    'CALL-06',
    'does not tell the time left',
    () => ({ fromHub: changing(hasAction('remote-call'), without('timeoutMs')) }),
  ],
  ['CALL-08', 'forwards one call at a time', oneCallAtATime],
  [
    'CALL-11',
    'writes arguments anew',
    () => ({ fromHub: changing(hasAction('remote-call'), (message) => [message]) }),
  ],
  [
    'CALL-15',
    'says that what timed out did not run',
    () => ({
      fromHub: changing(hasCode('call-timeout'), (message) => [
        { ...message, executed: 'no', retryable: true },
      ]),
    }),
  ],
  ['CALL-19', 'cancels nothing', () => ({ fromHub: changing(hasAction('remote-call-cancel'), () => []) })],
  [
    'K030',
    'answers calls twice',
    () => ({
      fromHub: changing(
        (message) => 'result' in message,
        (message) => [message, message],
      ),
    }),
  ],
  [
    'K038',
    'takes falsy results for none',
    () => ({
      fromHub: changing(
        (message) => 'result' in message,
        (message) => [{ ...message, result: message['result'] || null }],
      ),
    }),
  ],
  [
    'CALL-22',
    'does not say that it has resumed',
    () => ({
      fromHub: changing((message) => 'resumed' in message, without('resumed')),
    }),
  ],
  [
    'CALL-27',
    'tells no request id',
    () => ({
      fromHub: changing((message) => isError(message) && 'requestId' in message, without('requestId')),
    }),
  ],
];
