import type { JsonObject } from '../../json/json-values.js';
import { expectEqual, expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule, type HubUnderTest } from '../hub-under-test.js';

const NO_MESSAGE = 'the function failed without a message';

/** Serves, calls, and answers once with each of the fields; gives the replies in order. */
async function repliesTo(hub: HubUnderTest, answers: readonly object[]): Promise<JsonObject[]> {
  const { server, caller, name } = await hub.pair(['f']);
  const replies: JsonObject[] = [];
  for (const fields of answers) {
    const nonce = caller.startCall(name, 'f');
    server.answer(await server.forwarded(), fields);
    replies.push(await caller.reply(nonce));
  }
  await server.settle();
  return replies;
}

/** What a serving session answers, and what the call's error says. */
const errors: readonly [fields: object, text: string][] = [
  [{ error: 'no forecast' }, 'no forecast'],
  [{ error: 'wins', result: 1 }, 'wins'],
  [{ error: '', result: 1 }, NO_MESSAGE],
  [{ error: ' \n' }, NO_MESSAGE],
  [{ error: { message: 'from an object' } }, 'from an object'],
  [{ error: { code: 7 } }, '{"code":7}'],
  [{ error: 0 }, '0'],
  [{ error: false }, 'false'],
  [{ error: ['a'] }, '["a"]'],
];

export const resultRules = [
  hubRule('K038', 'remote-call-result', 'Falsy results are results.', async (hub) => {
    const values = [0, '', false, null, [], {}];
    const replies = await repliesTo(
      hub,
      values.map((result) => ({ result })),
    );
    for (const [index, reply] of replies.entries()) {
      expectThat(!('error' in reply), 'no error', reply);
      expectMembers(reply, { result: values[index] }, 'a reply');
    }
  }),

  hubRule(
    'K039',
    'remote-call-result',
    'Every combination of result and error settles the call as specified.',
    async (hub) => {
      const results = [{}, { error: null }, { error: null, result: 5 }, { result: 5, executed: 'no' }];
      const replies = await repliesTo(hub, results);
      expectEqual(
        replies.map(({ result }) => result),
        [null, null, 5, 5],
        'the results of neither, error null, and a result beside it',
      );
      for (const [index, reply] of (
        await repliesTo(
          hub,
          errors.map(([fields]) => fields),
        )
      ).entries()) {
        const [fields, text] = errors[index] ?? [{}, ''];
        expectError(reply, 'function-failed', JSON.stringify(fields));
        expectEqual(reply['error'], text, `the text of the error for ${JSON.stringify(fields)}`);
      }
    },
  ),

  hubRule(
    'CALL-09',
    'remote-call-result',
    'An error of the function: function-failed, executed yes unless it says otherwise.',
    async (hub) => {
      const executed = ['no', 'unknown', 'yes', 'perhaps', undefined];
      const replies = await repliesTo(
        hub,
        executed.map((word) => ({ error: 'failed', executed: word })),
      );
      for (const reply of replies) expectError(reply, 'function-failed', 'an error of the function');
      expectEqual(
        replies.map((reply) => reply['executed']),
        ['no', 'unknown', 'yes', 'yes', 'yes'],
        'executed, for no, unknown, yes, another word and none',
      );
      expectEqual(
        replies.map(({ retryable }) => retryable),
        Array(5).fill(false),
        'retryable',
      );
    },
  ),

  hubRule('CALL-10', 'remote-call-result', 'Long error texts are cut at 4096 code units.', async (hub) => {
    const [reply = {}] = await repliesTo(hub, [{ error: 'x'.repeat(10_000) }]);
    expectError(reply, 'function-failed', 'a long error');
    expectEqual(String(reply['error']).length, 4_096, 'the length of the text');
  }),

  hubRule(
    'K030',
    'remote-call-result',
    'The first answer counts; unknown ids are ignored without a reply.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const nonce = caller.startCall(name, 'f');
      const requestId = await server.forwarded();
      for (const unknown of [`${name}#1`, `${name}#00`, ` ${requestId}`, name, 0, null, [requestId]]) {
        server.answer(unknown, { result: 'unknown' });
      }
      server.answer(requestId, { result: 'first' });
      server.answer(requestId, { result: 'second' });
      server.answer(requestId, { error: 'third' });
      await server.settle();
      expectMembers(await caller.reply(nonce), { result: 'first' }, 'the reply');
      await caller.settle();
      for (const session of [server, caller]) {
        const more = session.inbox.untaken(({ message }) => !('action' in message)).map(({ text }) => text);
        expectEqual(more, [], 'further replies');
      }
    },
  ),

  hubRule('K031', 'remote-call-result', 'Only the session that was asked can answer.', async (hub) => {
    const { server, caller, name } = await hub.pair(['f']);
    const nonce = caller.startCall(name, 'f');
    const requestId = await server.forwarded();
    const third = await hub.login();
    for (const session of [third, caller]) {
      session.answer(requestId, { result: 'forged' });
      await session.settle();
    }
    server.answer(requestId, { result: 'genuine' });
    expectMembers(await caller.reply(nonce), { result: 'genuine' }, 'the reply');
  }),

  hubRule(
    'CALL-21',
    'Results',
    'A result that does not fit its schema or is nested too deep: invalid-result.',
    async (hub) => {
      const { server, caller, name } = await hub.pair([{ name: 'f', result: { type: 'integer' } }]);
      const wrong = caller.startCall(name, 'f');
      server.answer(await server.forwarded(), { result: 'five' });
      const reply = await caller.reply(wrong);
      expectError(reply, 'invalid-result', 'a result that does not fit');
      expectMembers(reply, { executed: 'yes', retryable: false }, 'an error');
      const right = caller.startCall(name, 'f');
      server.answer(await server.forwarded(), { result: 5 });
      expectMembers(await caller.reply(right), { result: 5 }, 'a result that fits');
    },
  ),
];
