import type { JsonObject } from '../../json/json-values.js';
import { clientRule } from '../client-under-test.js';
import { expectEqual, expectThat } from '../expectations.js';
import { ODD_REMOTE, REMOTE } from '../played-connection.js';

const values: readonly unknown[] = [
  0,
  '',
  false,
  null,
  [],
  {},
  true,
  -1.5,
  1e21,
  9_007_199_254_740_991,
  [[], [null], { a: [] }],
  { error: 'no error', result: null, action: 'ping' },
];

const texts = [
  'Grüße aus Zürich',
  '日本語 العربية',
  '\u{1f469}\u200d\u{1f4bb} \u{1f600}',
  'e\u0301 is not \u00e9',
  '\u0000\u0001\u001f"\\/\b\f\n\r\t\u007f',
  '\u2028\u2029\ufeff\uffff',
];

/** The text of an answer that must be an error. */
function errorText(answer: JsonObject): string {
  const { error } = answer;
  expectThat(typeof error === 'string' && error.trim() !== '', 'an error that is a text', answer);
  expectThat(!('result' in answer) || answer['result'] === null, 'an error without a result', answer);
  return error;
}

export const callRules = [
  clientRule(
    'CLIENT-11',
    'remote-call-result',
    'Every call is answered once, with its request id exactly.',
    async (client) => {
      const connection = await client.serving();
      const ids = Array.from({ length: 30 }, (_, value) => connection.start('echo', { value }));
      ids.push(`${REMOTE}#4096`, `${REMOTE}#9007199254740993`);
      for (const id of ids.slice(30)) connection.forward(id, 'echo', { value: id });
      for (const id of ids) await connection.answer(id);
      await connection.settle();
      await connection.settle();
      expectEqual(connection.untakenAnswers(), [], 'further answers');
    },
  ),

  clientRule(
    'CLIENT-12',
    'Names',
    'A remote whose name holds # is not mixed up with another.',
    async (client) => {
      const connection = await client.serving();
      expectEqual(await connection.run('name'), REMOTE, `the result of name of ${REMOTE}`);
      expectEqual(
        await connection.run('name', {}, ODD_REMOTE),
        ODD_REMOTE,
        `the result of name of ${ODD_REMOTE}`,
      );
      const [plain, odd] = [`${REMOTE}#1`, `${ODD_REMOTE}#1`];
      connection.forward(odd, 'name');
      connection.forward(plain, 'name');
      expectEqual((await connection.answer(plain))['result'], REMOTE, `the result for ${plain}`);
      expectEqual((await connection.answer(odd))['result'], ODD_REMOTE, `the result for ${odd}`);
    },
  ),

  clientRule('CLIENT-13', 'Results', 'Any JSON value is a result, the falsy ones too.', async (client) => {
    const connection = await client.serving();
    for (const value of values) {
      expectEqual(await connection.run('echo', { value }), value, 'the result of echo');
    }
  }),

  clientRule('CLIENT-14', 'Frames', 'Texts of any script arrive and leave unchanged.', async (client) => {
    const connection = await client.serving();
    for (const value of texts) {
      expectEqual(await connection.run('echo', { value }), value, 'the result of echo');
      const answer = await connection.answer(connection.start('fail', { message: `x${value}x` }));
      expectThat(
        errorText(answer).includes(value.trim()),
        `an error with the text ${JSON.stringify(value)}`,
        answer,
      );
    }
  }),

  clientRule(
    'CLIENT-15',
    'remote-call-result',
    'A function that fails is answered with an error: a text, without a stack.',
    async (client) => {
      const connection = await client.serving();
      const text = errorText(await connection.answer(connection.start('fail', { message: 'no forecast' })));
      expectThat(text.includes('no forecast'), 'the message of the error', text);
      const hasStack = /\n[^\S\n]+at |Traceback \(|\n[^\S\n]+File "/u.test(text);
      expectThat(!hasStack, 'an error without a stack trace', text);
      errorText(await connection.answer(connection.start('fail', { message: '' })));
      await connection.settle();
    },
  ),

  clientRule(
    'CLIENT-16',
    'remote-call, forwarded',
    'A function that it does not serve is answered with an error.',
    async (client) => {
      const connection = await client.serving();
      for (const name of ['no such function', 'toString', 'constructor', '__proto__', '__init__', '']) {
        errorText(await connection.answer(connection.start(name)));
      }
      errorText(await connection.answer(connection.start('echo', {}, ODD_REMOTE)));
      await connection.settle();
    },
  ),

  clientRule(
    'CLIENT-17',
    'remote-call, forwarded',
    'A call that is delivered twice runs once and is answered once.',
    async (client) => {
      const connection = await client.serving();
      const id = connection.newRequestId();
      for (let count = 0; count < 5; count += 1) connection.forward(id, 'count');
      expectEqual((await connection.answer(id))['result'], 1, 'the first result of count');
      connection.forward(id, 'count');
      await connection.settle();
      expectEqual(await connection.run('count'), 2, 'how often count has run after one more call');
      await connection.settle();
      expectEqual(connection.untakenAnswers(), [], 'further answers');
    },
  ),

  clientRule(
    'CLIENT-18',
    'remote-call, forwarded',
    'Calls run side by side: a slow one holds up no other.',
    async (client) => {
      const connection = await client.serving();
      connection.start('wait', { ms: 60_000 });
      const start = performance.now();
      for (let value = 0; value < 10; value += 1) await connection.run('echo', { value });
      const waits = Array.from({ length: 20 }, () => connection.start('wait', { ms: 500 }));
      for (const id of waits) {
        expectEqual((await connection.answer(id))['result'], 'waited', 'the result of wait');
      }
      const tookMs = Math.round(performance.now() - start);
      expectThat(tookMs < 4_000, '20 waits of 500 ms side by side in less than 4000 ms', `${tookMs} ms`);
    },
  ),
];
