import { MessageText } from '../../json/message-text.js';
import { expectEqual, expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';

const nonceTexts = [
  '"c1"',
  '""',
  '"\\u0061\\/"',
  '0',
  '-0',
  '1.0',
  '1e2',
  '9007199254740993',
  '1e400',
  'null',
  'false',
  '{"a": 1}',
  '[ 1, {} ]',
  '{"b":1,"a":2,"b":3}',
  '{"__proto__":1}',
];

export const nonceRules = [
  hubRule('WIRE-06', 'Nonce', 'The nonce comes back as the very text that was sent, once.', async (hub) => {
    const session = await hub.login();
    for (const text of nonceTexts) {
      session.send(`{"action":"ping","nonce":${text}}`);
      const reply = await session.nextReply(`a pong with the nonce ${text}`);
      const echoed = MessageText.scan(reply.text)?.member('nonce')?.text;
      expectThat(echoed === text, `the nonce ${text} as it was sent`, reply.text);
    }
    session.send('{"action":"ping"}');
    const { message } = await session.nextReply('a pong without a nonce');
    expectThat(!('nonce' in message), 'no nonce where none was sent', message);
    await session.settle();
    expectEqual(
      session.inbox.untaken(({ message: more }) => !('action' in more)).length,
      0,
      'second replies',
    );
  }),

  hubRule(
    'WIRE-07',
    'Nonce',
    'A nonce above 256 bytes gets malformed-message without a nonce.',
    async (hub) => {
      const session = await hub.login();
      for (const nonce of ['x'.repeat(254), 'é'.repeat(127)]) {
        session.send({ action: 'ping', nonce });
        expectMembers(await session.reply(nonce), { message: 'pong' }, 'an answer to a nonce of 256 bytes');
      }
      for (const nonce of ['x'.repeat(255), 'é'.repeat(128)]) {
        const remotename = hub.newName();
        session.send({ action: 'remote-connect', nonce, body: { remotename, tools: [] } });
        const { message } = await session.nextReply('an answer to a nonce of more than 256 bytes');
        expectError(message, 'malformed-message', 'a nonce of more than 256 bytes');
        expectThat(!('nonce' in message), 'an error without a nonce', message);
        expectError(await session.call(remotename, 'f'), 'remote-not-connected', 'a request not carried out');
      }
    },
  ),

  hubRule(
    'K045',
    'Nonce',
    'Calls that share a nonce are each answered with their own result.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      for (const nonce of ['same', null, 0, { a: 1 }]) {
        const call = { action: 'remote-call', nonce, body: { remotename: name, function: 'f' } };
        caller.send(call);
        caller.send(call);
        const [first, second] = [await server.forwarded(), await server.forwarded()];
        server.answer(second, { result: 'second' });
        expectMembers(await caller.reply(nonce), { result: 'second' }, 'the reply to the second call');
        server.answer(first, { result: 'first' });
        expectMembers(await caller.reply(nonce), { result: 'first' }, 'the reply to the first call');
      }
    },
  ),
];
