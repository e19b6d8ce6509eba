import { pingSchema, remoteCallSchema } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { defineAction, type ActionReply } from '../../../server/src/sessions/define-action.js';
import { readUsual } from '../../../server/src/actions/usual-messages.js';
import { Dispatcher } from '../../../server/src/sessions/dispatcher.js';
import { Session } from '../../../server/src/sessions/session.js';
import { createLogger } from '../../../server/src/observability/logger.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { eventually } from '../../support/eventually.js';
import { having, heldLogins, logIn, startHub } from './fixtures.js';

const generic = { error: 'the hub failed; this was logged', code: 'internal-error' };

test.each([
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  '',
  ' ping',
  'PING',
  'session-opened',
  'remote_list',
])('an action that nobody defined is unknown, whatever its name: %j', async (action) => {
  await using hub = await startHub();
  await using session = await hub.connect();
  expect(await session.request(action, {})).toEqual({
    error: `unknown action '${action}'`,
    code: 'unknown-action',
    nonce: 't1',
  });
});

test('the name of an unknown action comes back cut to 64 characters', async () => {
  await using hub = await startHub();
  await using session = await hub.connect();
  expect(await session.request('x'.repeat(1_000_000))).toMatchObject({
    error: `unknown action '${'x'.repeat(64)}'`,
    code: 'unknown-action',
  });
});

test('a body with several faults tells the first three and how many more there are', async () => {
  await using hub = await startHub();
  await using session = await hub.connect();
  const tools = Array.from({ length: 7 }, () => ({ name: 7 }));
  const reply = await session.request('remote-connect', { remotename: 7, tools });
  expect(reply).toEqual({
    error:
      'body.remotename: expected string, received number; ' +
      'body.tools[0].name: expected string, received number; ' +
      'body.tools[1].name: expected string, received number; and 5 more',
    code: 'invalid-body',
    nonce: 't1',
  });
});

test('an invalid body of a call says that nothing ran', async () => {
  await using hub = await startHub();
  await using session = await hub.connect();
  expect(await session.request('remote-call', { remotename: 'x' })).toMatchObject({
    code: 'invalid-body',
    error: 'body.function: expected string, received undefined',
    executed: 'no',
    retryable: false,
  });
});

test('a fault of the hub in a session is one generic answer and a line in the log', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  const enter = logIn(session, { token: 'x' });
  (await logins.next()).decide({ userId: 'u1' });
  await enter;
  const renewal = logIn(session, { token: 'x' });
  (await logins.next()).fail(new Error('the data base is away'));
  expect(await renewal).toMatchObject({
    code: 'internal-error',
    error: 'the login cannot be checked at the moment',
  });
  expect(hub.logs).toContainEqual(having({ level: 50, msg: 'action failed', action: 'authenticate' }));
  await session.settle();
});

// The dispatcher by itself, with actions that fail in every way

function dispatcherOf(handler: () => ActionReply | Promise<ActionReply>, peerSend?: () => void) {
  const logs: Record<string, unknown>[] = [];
  const sent: Record<string, unknown>[] = [];
  const log = createLogger('debug', { write: (line: string) => void logs.push(JSON.parse(line) as never) });
  const dispatcher = new Dispatcher({
    actions: [defineAction(pingSchema, handler), defineAction(remoteCallSchema, handler)],
    readUsual,
    findArgumentsReader: () => undefined,
    maxDepth: 128,
    onUnreadableAnswer: () => undefined,
    log,
  });
  const session = new Session({
    id: 's',
    identity: { userId: 'u1' },
    peer: {
      send: (text) => {
        peerSend?.();
        sent.push(JSON.parse(String(text)) as never);
      },
      close: () => undefined,
      terminate: () => undefined,
      probe: async () => true,
    },
    address: '192.0.2.1',
    instanceKey: undefined,
    speaksV1: false,
  });
  const call = { action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f' } };
  return {
    dispatcher,
    session,
    logs,
    sent,
    ping: () => dispatcher.dispatch(session, Buffer.from('{"action":"ping","nonce":1.0}')),
    call: () => dispatcher.dispatch(session, Buffer.from(JSON.stringify(call))),
  };
}

const fault = (): never => {
  throw new Error('the secret is swordfish');
};
const nodeFault = (): never => {
  throw Object.assign(new Error('the secret is swordfish'), { code: 'ENOENT' });
};

test.each([
  ['an error', fault],
  ['an error of Node, with a code', nodeFault],
  ['a promise of an error', async () => fault()],
  ['a promise of an error of Node', async () => nodeFault()],
  [
    'something that is no error',
    () => {
      // oxlint-disable-next-line typescript/only-throw-error -- libraries do
      throw 'swordfish';
    },
  ],
])('%s in a handler is answered generically, and logged', async (_what, handler) => {
  const { ping, call, sent, logs } = dispatcherOf(handler);
  ping();
  call();
  await eventually(() => sent.length === 2, 'both answers');
  expect(sent).toEqual([
    { ...generic, nonce: 1 },
    { ...generic, executed: 'unknown', retryable: false, nonce: 'c' },
  ]);
  expect(logs).toMatchObject([
    { level: 50, msg: 'action failed', action: 'ping', sessionId: 's' },
    { level: 50, msg: 'action failed', action: 'remote-call' },
  ]);
});

test('a refusal of the hub is answered as it is, and not logged', () => {
  const { ping, call, sent, logs } = dispatcherOf(() => {
    throw new RemoteError('too-many-calls', 'wait', { retryAfterMs: 5 });
  });
  ping();
  call();
  const refusal = { error: 'wait', code: 'too-many-calls', retryAfterMs: 5 };
  expect(sent).toEqual([
    { ...refusal, nonce: 1 },
    { ...refusal, executed: 'no', retryable: true, nonce: 'c' },
  ]);
  expect(logs).toEqual([]);
});

test('the cause of an internal error is logged, and never told', () => {
  const { ping, sent, logs } = dispatcherOf(() => {
    throw new RemoteError('internal-error', 'the model failed', { cause: new Error('its key is swordfish') });
  });
  ping();
  expect(sent).toEqual([{ error: 'the model failed', code: 'internal-error', nonce: 1 }]);
  expect(logs).toMatchObject([{ msg: 'action failed', err: { message: 'its key is swordfish' } }]);
});

test('a reply that cannot be sent is logged and harms nobody', async () => {
  const { ping, logs } = dispatcherOf(async () => ({ message: 'pong' }), fault);
  ping();
  await eventually(() => logs.length === 1, 'the line in the log');
  expect(logs).toMatchObject([{ level: 50, msg: 'reply failed', action: 'ping' }]);
});

test('a session that has ended is not served, nor answered late', async () => {
  let served = 0;
  let answer: (fields: ActionReply) => void = () => undefined;
  const { dispatcher, session, ping, sent } = dispatcherOf(() => {
    served += 1;
    return new Promise((resolve) => (answer = resolve));
  });
  ping();
  session.end();
  answer({ message: 'pong' });
  await new Promise((resolve) => setImmediate(resolve));
  ping();
  dispatcher.dispatch(session, Buffer.from('not JSON'));
  expect({ served, sent }).toEqual({ served: 1, sent: [] });
});
