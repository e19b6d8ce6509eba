import { MessageText } from '../../json/message-text.js';
import { expectEqual, expectError, expectMembers, expectThat, memberOf } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';

/** Spelt so that writing them anew would change them. */
const ODD_ARGS = '{ "n":9007199254740993,"big":1e400,"one":1.0,"\\u0061":"\\/","__proto__":{"x":1},"n":2 }';
const ODD_RESULT = '[ 1.0,1e400, 9007199254740993,{"__proto__":1,"b":1,"a":2,"b":3},"\\u00e9\\/" ]';

export const callRules = [
  hubRule('CALL-01', 'remote-call', 'A call is answered with the result and the nonce.', async (hub) => {
    const { server, caller, name } = await hub.pair(['f']);
    const nonce = caller.startCall(name, 'f', { city: 'Rome' });
    const call = await server.next('remote-call');
    expectMembers(call, { function: 'f', args: { city: 'Rome' } }, 'the forwarded call');
    server.answer(call['requestId'], { result: { forecast: 'sunny' } });
    const reply = await caller.reply(nonce);
    expectEqual(reply, { result: { forecast: 'sunny' }, nonce }, 'the reply');
  }),

  hubRule(
    'CALL-02',
    'remote-call',
    'A call to a remote that is not connected: remote-not-connected, retryable.',
    async (hub) => {
      const caller = await hub.login();
      const name = hub.newName();
      const reply = await caller.call(name, 'f');
      expectError(reply, 'remote-not-connected', 'a remote that is not connected');
      expectMembers(reply, { executed: 'no', retryable: true }, 'an error');
      expectEqual(reply['error'], `no connected remote named '${name}'`, 'the text of the error');
    },
  ),

  hubRule(
    'CALL-03',
    'remote-call',
    'A call to a function that the remote lacks: function-not-found.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const reply = await caller.call(name, 'g');
      expectError(reply, 'function-not-found', 'a function that is not there');
      expectMembers(reply, { executed: 'no', retryable: false }, 'an error');
      await server.settle();
      const forwarded = server.inbox.untaken(({ message }) => message['action'] === 'remote-call');
      expectEqual(forwarded.length, 0, 'forwarded calls');
    },
  ),

  hubRule(
    'K043',
    'remote-call',
    'A served function may call through the hub before it answers.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['outer', 'inner']);
      const outer = caller.startCall(name, 'outer');
      const outerId = await server.forwarded();
      const inner = server.startCall(name, 'inner');
      server.answer(await server.forwarded(), { result: 'inner' });
      expectMembers(await server.reply(inner), { result: 'inner' }, "the reply of the session's own remote");
      server.answer(outerId, { result: 'outer' });
      expectMembers(await caller.reply(outer), { result: 'outer' }, 'the reply to the outer call');
    },
  ),

  hubRule(
    'K050',
    'remote-call',
    'Absent args are forwarded as {}; args that are no object are refused.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      for (const args of [[], 'x', 1, true, null]) {
        const reply = await caller.call(name, 'f', args);
        expectError(reply, 'invalid-body', `args: ${JSON.stringify(args)}`);
        expectMembers(reply, { executed: 'no' }, 'an error');
      }
      const nonce = caller.startCall(name, 'f');
      const call = await server.next('remote-call');
      expectMembers(call, { args: {} }, 'the forwarded call');
      server.answer(call['requestId'], { result: 1 });
      await caller.reply(nonce);
    },
  ),

  hubRule(
    'CALL-05',
    'remote-call, forwarded',
    'Without remotes.v1 a forwarded call has its four fields, and nothing else is sent.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f'], { caller: { v1: true } });
      const nonce = caller.startCall(name, 'f', { a: 1 }, { timeoutMs: 300 });
      const call = await server.next('remote-call');
      expectEqual(
        call,
        { action: 'remote-call', requestId: `${name}#0`, function: 'f', args: { a: 1 } },
        'the forwarded call',
      );
      expectError(await caller.reply(nonce), 'call-timeout', 'a call without an answer');
      await server.settle();
      const more = server.inbox.untaken(({ message }) => String(message['action']).startsWith('remote-call'));
      expectEqual(
        more.map(({ text }) => text),
        [],
        'cancellations to a session without remotes.v1',
      );
    },
  ),

  hubRule(
    'CALL-06',
    'remote-call, forwarded',
    'With remotes.v1 the forwarded call tells the time left.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f'], { server: { v1: true } });
      caller.startCall(name, 'f', {}, { timeoutMs: 5_000 });
      const { timeoutMs } = await server.next('remote-call');
      const fits = typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= 5_000;
      expectThat(fits, 'timeoutMs: at most the 5000 ms asked for', timeoutMs);
    },
  ),

  hubRule(
    'CALL-07',
    'remote-call, forwarded',
    'Request ids are <remotename>#<n>, counted from 0, never used again.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const next = async (): Promise<string> => {
        caller.startCall(name, 'f');
        return server.forwarded();
      };
      const ids = [await next(), await next()];
      await server.request('remote-disconnect', { remotename: name });
      await server.serve(name, ['f']);
      ids.push(await next());
      expectEqual(ids, [`${name}#0`, `${name}#1`, `${name}#2`], 'the request ids');
    },
  ),

  hubRule('CALL-08', 'remote-call, forwarded', 'Calls to one session run side by side.', async (hub) => {
    const { server, caller, name } = await hub.pair(['f']);
    const [slow, quick] = [caller.startCall(name, 'f'), caller.startCall(name, 'f')];
    const [slowId, quickId] = [await server.forwarded(), await server.forwarded()];
    server.answer(quickId, { result: 'quick' });
    expectMembers(await caller.reply(quick), { result: 'quick' }, 'the reply to the second call');
    server.answer(slowId, { result: 'slow' });
    expectMembers(await caller.reply(slow), { result: 'slow' }, 'the reply to the first call');
  }),

  hubRule(
    'K033',
    'remote-call, forwarded',
    'A late answer to an old call never settles a newer one.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const old = caller.startCall(name, 'f');
      const oldId = await server.forwarded();
      await server.request('remote-disconnect', { remotename: name });
      expectError(await caller.reply(old), 'remote-disconnected', 'a call in flight at a disconnect');
      await server.serve(name, ['f']);
      const fresh = caller.startCall(name, 'f');
      const freshId = await server.forwarded();
      expectThat(freshId !== oldId, 'a new request id after a new connect', freshId);
      server.answer(oldId, { result: 'old' });
      server.answer(freshId, { result: 'fresh' });
      expectMembers(await caller.reply(fresh), { result: 'fresh' }, 'the reply to the newer call');
    },
  ),

  hubRule(
    'CALL-11',
    'Text exactness',
    'Arguments and results arrive as the text they were sent as.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const body = `{"remotename":"${name}","function":"f","args":${ODD_ARGS}}`;
      caller.send(`{"action":"remote-call","nonce":"exact","body":${body}}`);
      const call = await server.inbox.take(({ message }) => message['action'] === 'remote-call', 'a call');
      expectEqual(MessageText.scan(call.text)?.member('args')?.text, ODD_ARGS, 'the text of args');
      const requestId = JSON.stringify(memberOf(call.message, 'requestId'));
      server.send(`{"action":"remote-call-result","requestId":${requestId},"result":${ODD_RESULT}}`);
      const reply = await caller.nextReply();
      expectEqual(MessageText.scan(reply.text)?.member('result')?.text, ODD_RESULT, 'the text of the result');
    },
  ),
];
