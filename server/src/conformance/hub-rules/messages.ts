import type { JsonObject } from '../../json/json-values.js';
import { expectAnyError, expectEqual, expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';
import type { WireSession } from '../wire-session.js';

const notMessages = [
  '',
  ' ',
  'ping',
  '{',
  '[]',
  '[{"action":"ping"}]',
  'null',
  'true',
  '1',
  '"ping"',
  '{}',
  '{"action":1}',
  '{"action":null}',
];

/** By RFC 8259: texts of a ping. */
const goodJson = [
  '\t\r\n {"action"\t:\r\n"ping" , "nonce":"j"}\n ',
  '{"\\u0061ction":"p\\u0069ng","nonce":"j"}',
  '{"action":"ping","nonce":"j","x":[-0,1E+2,0.1e1,1e-7,123456789012345678901234567890]}',
  '{"action":"ping","nonce":"j","x":"\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00\u2028\u007f"}',
  '{"action":"ping","nonce":"j","":{},"x":[[],{},null,true,false,""]}',
];

/** By RFC 8259: no JSON. */
const badJson = [
  "{'action':'ping'}",
  '{action:"ping"}',
  '{"action":"ping",}',
  '{"action":"ping"}}',
  '{"action":"ping"} x',
  '{"action":"ping" "x":1}',
  '{"action":"ping","x":[1,]}',
  '{"action":"ping","x":[1,,2]}',
  '{"action":"ping","x":01}',
  '{"action":"ping","x":+1}',
  '{"action":"ping","x":.5}',
  '{"action":"ping","x":1.}',
  '{"action":"ping","x":1e}',
  '{"action":"ping","x":0x1}',
  '{"action":"ping","x":NaN}',
  '{"action":"ping","x":Infinity}',
  '{"action":"ping","x":truE}',
  '{"action":"ping","x":"\\x"}',
  '{"action":"ping","x":"\\u12"}',
  '{"action":"ping","x":"a\tb"}',
  '{"action":"ping","x":"a}',
  '/* x */{"action":"ping"}',
  '\u00a0{"action":"ping"}',
];

/** Bodies that do not fit, and the field that the error names. */
const badBodies: readonly [action: string, body: unknown, path: string][] = [
  ['remote-connect', { remotename: 1, tools: [] }, 'body.remotename'],
  ['remote-connect', { tools: [] }, 'body.remotename'],
  ['remote-connect', { remotename: 'x', tools: {} }, 'body.tools'],
  ['remote-connect', { remotename: 'x', tools: [{ name: 1 }] }, 'body.tools'],
  ['remote-disconnect', {}, 'body.remotename'],
  ['remote-call', { remotename: 'x' }, 'body.function'],
  ['remote-call', { remotename: 'x', function: 'f', timeoutMs: 0 }, 'body.timeoutMs'],
  ['remote-call', { remotename: 'x', function: 'f', timeoutMs: 1.5 }, 'body.timeoutMs'],
  ['remote-call', 'x', 'body'],
  ['remote-call', undefined, 'body'],
];

async function expectMalformed(session: WireSession, text: string): Promise<void> {
  session.send(text);
  const { message } = await session.nextReply(`an answer to the frame ${JSON.stringify(text)}`);
  expectError(message, 'malformed-message', `the frame ${JSON.stringify(text)}`);
}

function nestedPing(depth: number): string {
  return `{"action":"ping","nonce":"deep","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

export const messageRules = [
  hubRule(
    'WIRE-01',
    'Envelope',
    'What is no message gets malformed-message, and the session lives on.',
    async (hub) => {
      const session = await hub.login();
      for (const text of notMessages) await expectMalformed(session, text);
      await session.settle();
    },
  ),

  hubRule('WIRE-02', 'Envelope', 'An unknown action gets unknown-action, which names it.', async (hub) => {
    const session = await hub.login();
    for (const action of ['no-such-action', '__proto__', 'constructor', 'Ping', '']) {
      expectError(await session.request(action, {}), 'unknown-action', `the action '${action}'`, action);
    }
    await session.settle();
  }),

  hubRule(
    'WIRE-03',
    'Envelope',
    'A body that does not fit gets invalid-body, the path first.',
    async (hub) => {
      const session = await hub.login();
      for (const [action, body, path] of badBodies) {
        const what = `${action} with the body ${JSON.stringify(body)}`;
        const reply = await session.request(action, body);
        expectError(reply, 'invalid-body', what, path);
        expectThat(String(reply['error']).startsWith(path), `the path first (${path}) for ${what}`, reply);
      }
      await session.settle();
    },
  ),

  hubRule(
    'WIRE-04',
    'Envelope',
    'Unknown fields are ignored, and of members with one name the last counts.',
    async (hub) => {
      const session = await hub.login();
      session.send('{"action":"ping","nonce":"u1","colour":"red","body":{"any":1}}');
      expectMembers(await session.reply('u1'), { message: 'pong' }, 'an answer to a ping with more fields');
      session.send('{"action":"no-such-action","nonce":"u0","action":"ping","nonce":"u2"}');
      expectMembers(await session.reply('u2'), { message: 'pong' }, 'an answer to the last action and nonce');
      const body = { remotename: hub.newName(), tools: [], colour: 'red' };
      expectMembers(
        await session.request('remote-connect', body),
        { remotename: body.remotename },
        'a remote',
      );
    },
  ),

  hubRule('WIRE-05', 'Envelope', 'JSON is taken and refused as RFC 8259 says.', async (hub) => {
    const session = await hub.login();
    for (const text of goodJson) {
      session.send(text);
      expectMembers(await session.reply('j'), { message: 'pong' }, `an answer to the frame ${text}`);
    }
    for (const text of badJson) await expectMalformed(session, text);
    await session.settle();
  }),

  hubRule(
    'K027',
    'Envelope',
    'A message may be nested 128 levels deep; a deeper one is malformed-message.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      caller.send(nestedPing(128));
      expectMembers(await caller.reply('deep'), { message: 'pong' }, 'an answer to 128 levels');
      for (const depth of [129, 10_000, 100_000]) {
        caller.send(nestedPing(depth));
        const { message } = await caller.nextReply(`an answer to ${depth} levels`);
        expectError(message, 'malformed-message', `a message of ${depth} levels`);
      }
      const nonce = caller.startCall(name, 'f');
      const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
      const requestId = JSON.stringify(await server.forwarded());
      server.send(`{"action":"remote-call-result","requestId":${requestId},"result":${deep}}`);
      expectError(await caller.reply(nonce), 'invalid-result', 'a result of 10,000 levels');
      await server.settle();
    },
  ),

  hubRule('K028', 'Envelope', 'After odd frames a session is as usable as before.', async (hub) => {
    const session = await hub.login();
    session.socket.send('{"action":"ping",', { fin: false });
    session.socket.send('"nonce":', { fin: false });
    session.socket.send('"whole"}', { fin: true });
    expectMembers(await session.reply('whole'), { message: 'pong' }, 'an answer to a message in fragments');
    const pong = new Promise<string>((resolve) =>
      session.socket.once('pong', (data) => resolve(String(data))),
    );
    session.socket.ping('are you there');
    await session.settle();
    expectEqual(await pong, 'are you there', 'the payload of a pong');
    session.socket.pong('nobody asked');
    for (const text of ['', '\u0000', '{"action":"\ud83d"}', '[[[[']) session.send(text);
    await session.settle();
    expectEqual(
      session.inbox.untaken(({ message }) => 'action' in message).length,
      0,
      'messages with an action',
    );
  }),

  hubRule(
    'WIRE-08',
    'Replies',
    'A reply has no action; an error has a text, a code and the nonce.',
    async (hub) => {
      const session = await hub.login();
      const replies: JsonObject[] = [
        await session.request('ping'),
        await session.request('remote-list'),
        await session.request('remote-connect', { remotename: hub.newName(), tools: [] }),
      ];
      for (const reply of replies) {
        expectThat(!('action' in reply) && !('error' in reply), 'a reply without action and error', reply);
      }
      expectAnyError(await session.request('no-such-action'), 'an unknown action');
      expectAnyError(await session.request('remote-call', {}), 'a wrong body');
      expectAnyError(await session.call(hub.newName(), 'f'), 'a remote that is not connected');
    },
  ),

  hubRule(
    'WIRE-09',
    'Replies',
    'remote-call-result and remote-call-progress are never answered.',
    async (hub) => {
      const session = await hub.login({ v1: true });
      for (const action of ['remote-call-result', 'remote-call-progress']) {
        session.send({ action, nonce: 'never' });
        session.send({ action, nonce: 'never', requestId: 7 });
        session.send({ action, nonce: 'never', requestId: 'nobody#0', result: 1, progress: 1 });
        session.send({ action, nonce: 'never', body: [] });
      }
      await session.settle();
      const answers = session.inbox.untaken(({ message }) => !('action' in message));
      expectEqual(
        answers.map(({ text }) => text),
        [],
        'answers',
      );
    },
  ),

  hubRule('WIRE-13', 'ping', 'ping is answered with pong.', async (hub) => {
    const session = await hub.login();
    const nonce = session.start('ping');
    expectEqual(await session.reply(nonce), { message: 'pong', nonce }, 'the answer to a ping');
  }),
];
