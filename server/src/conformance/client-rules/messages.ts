import { sessionMessageSchemas, type SessionAction } from '@remotes-hub/protocol';
import { clientRule, type ClientUnderTest } from '../client-under-test.js';
import { expectEqual, expectThat } from '../expectations.js';
import type { Frame } from '../inbox.js';
import { REMOTE, type PlayedConnection } from '../played-connection.js';
import { unknownFields } from './own-fields.js';

/** Frames that no hub sends, and that must do no harm. */
const malformed = [
  '',
  'no json',
  '{"action":"remote-call"',
  '[]',
  'null',
  '1',
  '"text"',
  '{}',
  '{"action":1}',
  '{"action":"remote-call"}',
  '{"action":"remote-call","requestId":7,"function":"count","args":{}}',
  '{"action":"remote-call","requestId":null,"function":"count","args":{}}',
  '{"action":"remote-call-cancel"}',
  '{"action":"remote-call-cancel","requestId":{}}',
  '{"action":"remote-call-progress"}',
  '{"action":"session-opened"}',
  '{"action":"remote-connected","body":7}',
  '{"error":7}',
];

const unknownActions = [
  { action: 'no-such-action', body: { requestId: `${REMOTE}#0` } },
  { action: 'remote-calls', requestId: 'x#0', function: 'count', args: {} },
  { action: '__proto__' },
  { action: 'constructor', body: {} },
  { action: '' },
  { action: 'run-text', body: { runId: 'nobody', seq: 0, text: 'x' } },
];

/** Has the client send some of everything that it can send. */
async function exercise(connection: PlayedConnection): Promise<void> {
  await connection.run('echo', { value: { any: ['value', 1, null] } });
  await connection.answer(connection.start('fail', { message: 'on purpose' }));
  await connection.run('progress', { steps: 3 });
  const calls = Array.from({ length: 5 }, () =>
    connection.start('call', { remotename: 'elsewhere', function: 'f', args: {} }),
  );
  for (const call of calls) {
    const { nonce } = await connection.next('remote-call');
    connection.send({ result: 'through the hub', nonce });
    await connection.answer(call);
  }
}

function expectSound({ text, message, isBinary }: Frame): void {
  expectThat(!isBinary, 'text frames', 'a binary frame');
  const { action } = message;
  const isKnown = (name: unknown): name is SessionAction =>
    typeof name === 'string' && Object.hasOwn(sessionMessageSchemas, name);
  expectThat(isKnown(action), 'an action of the specification', text);
  const { success, error } = sessionMessageSchemas[action].safeParse(message);
  expectThat(success, `a ${action} that fits the specification (${error?.message ?? ''})`, text);
  expectEqual(unknownFields(message), [], `fields of its own in ${text.slice(0, 200)}`);
}

async function serving(client: ClientUnderTest): Promise<PlayedConnection> {
  return client.serving();
}

export const messageRules = [
  clientRule(
    'CLIENT-05',
    'Envelope',
    'Every frame is one message of the specification, without fields of its own.',
    async (client) => {
      const connection = await serving(client);
      await exercise(connection);
      for (const frame of connection.inbox.received) expectSound(frame);
    },
  ),

  clientRule(
    'CLIENT-06',
    'Nonce',
    'Every request has a nonce: a string of at most 256 bytes, none used twice.',
    async (client) => {
      const connection = await serving(client);
      await exercise(connection);
      const requests = connection.inbox.received.filter(
        ({ message }) => !String(message['action']).match(/^remote-call-(?:result|progress)$/u),
      );
      for (const { text, message } of requests) {
        const { nonce } = message;
        const fits = typeof nonce === 'string' && Buffer.byteLength(JSON.stringify(nonce)) <= 256;
        expectThat(fits, 'a nonce that is a string of at most 256 bytes', text);
      }
      const nonces = requests.map(({ message }) => message['nonce']);
      expectEqual(
        nonces.filter((nonce, index) => nonces.indexOf(nonce) !== index),
        [],
        'nonces used twice',
      );
    },
  ),

  clientRule(
    'CLIENT-07',
    'Envelope',
    'Actions and fields that it does not know are ignored.',
    async (client) => {
      const connection = await serving(client);
      for (const message of unknownActions) connection.send(message);
      const id = connection.newRequestId();
      connection.forward(
        id,
        'echo',
        { value: 1, colour: 'red' },
        { colour: 'red', nonce: 'x', body: { a: 1 } },
      );
      expectEqual((await connection.answer(id))['result'], 1, 'the result of a call with more fields');
      expectEqual(await connection.run('count'), 1, 'how often count has run');
      expectEqual(connection.untakenAnswers(), [], 'answers to what is no call');
    },
  ),

  clientRule(
    'CLIENT-08',
    'Replies',
    'Replies that nobody waits for, or that come twice, are ignored.',
    async (client) => {
      const connection = await serving(client);
      const call = connection.start('call', { remotename: 'elsewhere', function: 'f', args: {} });
      const { nonce } = await connection.next('remote-call');
      connection.send({ result: 'nobody asked', nonce: 'no such nonce' });
      connection.send({ result: 'nobody asked', nonce: 7 });
      connection.send({ result: 'nobody asked' });
      connection.send({ error: 'the message is not JSON', code: 'malformed-message' });
      connection.send({ action: 'remote-call-progress', nonce, progress: 1 });
      connection.send({ result: 'first', nonce });
      connection.send({ result: 'second', nonce });
      connection.send({ error: 'third', code: 'call-timeout', nonce });
      expectEqual((await connection.answer(call))['result'], 'first', 'the result of the call');
      await connection.settle();
    },
  ),

  clientRule(
    'CLIENT-09',
    'Writing a client',
    'Frames that it cannot understand do it no harm and run nothing.',
    async (client) => {
      const connection = await serving(client);
      for (const text of malformed) connection.send(text);
      connection.socket.send(Buffer.from([0, 255, 1]), { binary: true });
      await connection.settle();
      expectEqual(await connection.run('count'), 1, 'how often count has run');
      expectEqual(connection.untakenAnswers(), [], 'answers to frames that are no call');
    },
  ),

  clientRule('CLIENT-10', 'Heartbeat', 'Pings are answered, also while calls run.', async (client) => {
    const connection = await serving(client);
    connection.start('wait', { ms: 60_000 });
    for (const payload of ['', 'one', 'two']) {
      const pong = new Promise<string>((resolve) =>
        connection.socket.once('pong', (data) => resolve(String(data))),
      );
      connection.socket.ping(payload);
      const tooLate = new Promise<string>((resolve) =>
        setTimeout(resolve, 2_000, 'no pong within 2 s').unref(),
      );
      expectEqual(await Promise.race([pong, tooLate]), payload, 'the payload of the pong');
    }
    await connection.settle();
  }),
];
