import { clientRule, pause } from '../client-under-test.js';
import { expectEqual, expectMembers, expectThat } from '../expectations.js';
import { REMOTE, type PlayedConnection } from '../played-connection.js';
import { RuleSkipped } from '../rule.js';

/** How long a client may take to stop what was cancelled. */
const STOP_MS = 2_000;
const MEBIBYTE = 1_048_576;

function needV1(connection: PlayedConnection): void {
  if (!connection.isV1) throw new RuleSkipped('the client does not offer remotes.v1');
}

/** Waits until so many calls of `wait` run: a client may start calls in any order. */
async function expectWaiting(connection: PlayedConnection, wanted: number, what: string): Promise<void> {
  const deadline = performance.now() + STOP_MS;
  let waiting = await connection.run('waiting');
  while (waiting !== wanted && performance.now() < deadline) {
    await pause(50);
    waiting = await connection.run('waiting');
  }
  expectEqual(waiting, wanted, what);
}

export const callingRules = [
  clientRule(
    'CLIENT-19',
    'remote-call-cancel, forwarded',
    'A cancelled call is stopped, and others go on.',
    async (client) => {
      const connection = await client.serving();
      needV1(connection);
      const [first, second] = [
        connection.start('wait', { ms: 60_000 }),
        connection.start('wait', { ms: 60_000 }),
      ];
      await expectWaiting(connection, 2, 'the waits that run');
      const cancel = (requestId: string, reason: string): void =>
        connection.send({ action: 'remote-call-cancel', requestId, reason });
      cancel(first, 'call-cancelled');
      cancel(first, 'call-cancelled');
      cancel(`${REMOTE}#999`, 'call-timeout');
      await expectWaiting(connection, 1, `the waits that run ${STOP_MS} ms after one of two was cancelled`);
      cancel(second, 'a reason of later');
      await expectWaiting(connection, 0, `the waits that run ${STOP_MS} ms after both were cancelled`);
      const answered = connection.start('echo', { value: 1 });
      await connection.answer(answered);
      cancel(answered, 'caller-gone');
      await connection.settle();
    },
  ),

  clientRule(
    'CLIENT-20',
    'remote-call-progress',
    'Progress has the request id, comes in order and never after the answer.',
    async (client) => {
      const connection = await client.serving();
      const id = connection.start('progress', { steps: 4 });
      expectEqual((await connection.answer(id))['result'], 4, 'the result of progress');
      await connection.settle();
      const frames = connection.inbox.received.map(({ message }) => message);
      const sent = frames.filter(({ action }) => action === 'remote-call-progress');
      const steps = connection.isV1 ? [1, 2, 3, 4] : []; // without remotes.v1 none may be sent
      const action = 'remote-call-progress';
      expectEqual(
        sent,
        steps.map((progress) => ({ action, requestId: id, progress })),
        'the progress',
      );
      const answer = frames.findIndex((frame) => frame['requestId'] === id && 'result' in frame);
      const last = frames.findLastIndex((frame) => frame['action'] === action);
      expectThat(last < answer, 'the answer after all progress', frames.slice(-8));
    },
  ),

  clientRule(
    'CLIENT-21',
    'remote-call',
    'A function may call through the hub; replies are matched by nonce, in any order.',
    async (client) => {
      const connection = await client.serving();
      const args = { remotename: 'else #1', function: 'f', args: { a: [1, null] } };
      const [one, two] = [
        connection.start('call', args),
        connection.start('call', { ...args, function: 'g' }),
      ];
      const requests = [await connection.next('remote-call'), await connection.next('remote-call')];
      const f = requests.find(({ body }) => JSON.stringify(body).includes('"f"'));
      const g = requests.find(({ body }) => JSON.stringify(body).includes('"g"'));
      expectMembers(f ?? {}, { body: args }, 'the call of the client');
      connection.send({ result: 'of g', nonce: g?.['nonce'] });
      expectEqual((await connection.answer(two))['result'], 'of g', 'the result of the second call');
      connection.send({ result: null, nonce: f?.['nonce'] });
      expectEqual((await connection.answer(one))['result'] ?? null, null, 'the result of the first call');
    },
  ),

  clientRule(
    'CLIENT-22',
    'Replies',
    'A call of its own that fails fails, with the text of the error.',
    async (client) => {
      const connection = await client.serving();
      const id = connection.start('call', { remotename: 'x', function: 'f', args: {} });
      const { nonce } = await connection.next('remote-call');
      const error = "no connected remote named 'x'";
      connection.send({ error, code: 'remote-not-connected', executed: 'no', retryable: false, nonce });
      const answer = await connection.answer(id);
      expectThat(String(answer['error']).includes(error), `an error with the text ${error}`, answer);
      const later = connection.start('call', { remotename: 'x', function: 'f', args: {} });
      const second = await connection.next('remote-call');
      connection.send({
        error: 'later',
        code: 'a-code-of-later',
        executed: 'no',
        retryable: false,
        nonce: second['nonce'],
      });
      expectThat(
        typeof (await connection.answer(later))['error'] === 'string',
        'an error for an unknown code',
        answer,
      );
    },
  ),

  clientRule('CLIENT-23', 'Frames', 'Frames of more than 1 MiB are read and sent.', async (client) => {
    const connection = await client.serving();
    const value = 'x'.repeat(2 * MEBIBYTE);
    expectThat((await connection.run('echo', { value })) === value, 'an echo of 2 MiB', 'another text');
    const repeated = await connection.run('repeat', { text: 'ab', times: MEBIBYTE });
    expectThat(repeated === 'ab'.repeat(MEBIBYTE), 'a repeated text of 2 MiB', 'another text');
  }),

  clientRule(
    'CLIENT-24',
    'How a call ends',
    'A result too long for a frame is answered with an error.',
    async (client) => {
      const maxMessageBytes = 65_536;
      const connection = await client.serving({ maxMessageBytes });
      const isLoginReply = connection.headers.authorization === undefined;
      const times = isLoginReply ? maxMessageBytes : 5 * MEBIBYTE; // who logs in at the upgrade is told nothing
      for (const [text, more] of [
        ['x', times],
        ['é', Math.ceil(times / 2)],
      ] as const) {
        const answer = await connection.answer(connection.start('repeat', { text, times: more }));
        expectThat(typeof answer['error'] === 'string', 'an error in place of the result', answer);
      }
      const longest = Math.max(...connection.inbox.received.map(({ text }) => Buffer.byteLength(text)));
      const limit = isLoginReply ? maxMessageBytes : 4 * MEBIBYTE;
      expectThat(longest <= limit, `no frame above ${limit} bytes`, `one of ${longest} bytes`);
      await connection.settle();
    },
  ),
];
