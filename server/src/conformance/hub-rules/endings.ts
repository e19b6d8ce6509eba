import { expectEqual, expectError, expectMembers, memberOf } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';
import { RuleSkipped } from '../rule.js';
import type { WireSession } from '../wire-session.js';

/** The most that is sent to find a limit. */
const MAX_SENT_BYTES = 32 * 1024 * 1024;
const RACES = 20;

async function expectCancelled(server: WireSession, requestId: string, reason: string): Promise<void> {
  const cancel = await server.next('remote-call-cancel');
  expectMembers(cancel, { requestId, reason }, 'the cancellation');
}

export const endingRules = [
  hubRule(
    'CALL-15',
    'How a call ends',
    'Every failed call says executed and retryable as the table says.',
    async (hub) => {
      const strict = { name: 'strict', parameters: { type: 'object', required: ['a'] } };
      const { server, caller, name } = await hub.pair(['f', strict]);
      const failed = caller.startCall(name, 'f');
      server.answer(await server.forwarded(), { error: 'failed' });
      const replies = [
        await caller.call(hub.newName(), 'f'),
        await caller.call(name, 'g'),
        await caller.call(name, 'strict'),
        await caller.reply(failed),
        await caller.call(name, 'f', {}, { timeoutMs: 100 }),
      ];
      const gone = caller.startCall(name, 'f');
      await server.forwarded(); // of the one that timed out
      await server.forwarded();
      await caller.request('remote-disconnect', { remotename: name });
      replies.push(await caller.reply(gone));
      expectEqual(
        replies.map(({ code, executed, retryable }) => [code, executed, retryable]),
        [
          ['remote-not-connected', 'no', true],
          ['function-not-found', 'no', false],
          ['invalid-arguments', 'no', false],
          ['function-failed', 'yes', false],
          ['call-timeout', 'unknown', false],
          ['remote-disconnected', 'unknown', false],
        ],
        'code, executed and retryable',
      );
    },
  ),

  hubRule(
    'K035',
    'How a call ends',
    'Pending calls fail at once when the remote or its session goes away.',
    async (hub) => {
      for (const ending of ['disconnect', 'close', 'cut'] as const) {
        const { server, caller, name } = await hub.pair(['f']);
        const nonce = caller.startCall(name, 'f');
        await server.forwarded();
        if (ending === 'disconnect') server.start('remote-disconnect', { remotename: name });
        else if (ending === 'close') server.socket.close(1000);
        else server.socket.terminate();
        const reply = await caller.reply(nonce);
        expectError(reply, 'remote-disconnected', `a call in flight (${ending})`);
        expectMembers(reply, { executed: 'unknown', retryable: false }, 'an error');
      }
    },
  ),

  hubRule(
    'K037',
    'How a call ends',
    'A call whose caller has gone is freed, and its answer dropped.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f'], { server: { v1: true } });
      caller.startCall(name, 'f');
      const requestId = await server.forwarded();
      caller.socket.terminate();
      await expectCancelled(server, requestId, 'caller-gone');
      server.answer(requestId, { result: 'for nobody' });
      await server.settle();
    },
  ),

  hubRule(
    'K048',
    'remote-call-result',
    'A result above the frame limit fails its call at once.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const { reply } = await hub.tryLogin();
      const bytes = Number(memberOf(reply, 'maxMessageBytes'));
      if (bytes > MAX_SENT_BYTES) throw new RuleSkipped(`its limit of ${bytes} bytes is too large to try`);
      const nonce = caller.startCall(name, 'f');
      server.answer(await server.forwarded(), { result: 'x'.repeat(bytes) });
      expectError(await caller.reply(nonce), 'remote-disconnected', 'a result above the limit');
      expectEqual((await server.closed()).code, 1009, 'the close code of the serving session');
    },
  ),

  hubRule(
    'CALL-18',
    'remote-call-cancel',
    'remote-call-cancel ends the calls with that nonce, then tells how many.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const call = { action: 'remote-call', nonce: { a: 1 }, body: { remotename: name, function: 'f' } };
      caller.send(call);
      caller.send(call);
      await server.forwarded();
      await server.forwarded();
      const cancel = caller.start('remote-call-cancel', { nonce: { a: 1 } });
      for (let count = 0; count < 2; count += 1) {
        const { message } = await caller.nextReply('the reply to a cancelled call');
        expectError(message, 'call-cancelled', 'a cancelled call');
        expectMembers(message, { nonce: { a: 1 }, executed: 'unknown', retryable: false }, 'an error');
      }
      const told = await caller.reply(cancel);
      expectMembers(
        told,
        { message: 'remote calls cancelled', cancelled: 2 },
        'the reply to the cancellation',
      );
      const none = await caller.request('remote-call-cancel', { nonce: 'nobody' });
      expectMembers(none, { cancelled: 0 }, 'the reply when nothing was in flight');
    },
  ),

  hubRule(
    'CALL-19',
    'remote-call-cancel, forwarded',
    'A serving session with remotes.v1 is told of early ends, and why.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f'], { server: { v1: true } });
      caller.startCall(name, 'f', {}, { timeoutMs: 100 });
      await expectCancelled(server, await server.forwarded(), 'call-timeout');
      const cancelled = caller.startCall(name, 'f');
      const requestId = await server.forwarded();
      await caller.request('remote-call-cancel', { nonce: cancelled });
      await expectCancelled(server, requestId, 'call-cancelled');
      caller.startCall(name, 'f');
      const last = await server.forwarded();
      await caller.request('remote-disconnect', { remotename: name });
      await expectCancelled(server, last, 'remote-disconnected');
    },
  ),

  hubRule(
    'CALL-20',
    'remote-call-progress, forwarded',
    'Progress reaches a caller with remotes.v1 whose call has a nonce, and no other.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f'], { server: { v1: true }, caller: { v1: true } });
      const plain = await hub.login();
      const nonces = [caller.startCall(name, 'f'), plain.startCall(name, 'f')];
      caller.send({ action: 'remote-call', body: { remotename: name, function: 'f' } });
      for (let count = 0; count < 3; count += 1) {
        const requestId = await server.forwarded();
        server.send({ action: 'remote-call-progress', requestId, progress: { done: 1 } });
        server.send({ action: 'remote-call-progress', requestId });
        server.answer(requestId, { result: 'done' });
      }
      const progress = [await caller.next('remote-call-progress'), await caller.next('remote-call-progress')];
      const action = 'remote-call-progress';
      const [nonce] = nonces;
      expectEqual(
        progress,
        [
          { action, nonce, progress: { done: 1 } },
          { action, nonce, progress: null },
        ],
        'progress',
      );
      await caller.reply(nonces[0]);
      await plain.reply(nonces[1]);
      await caller.settle();
      for (const session of [caller, plain]) {
        const more = session.inbox
          .untaken(({ message }) => message['action'] === action)
          .map(({ text }) => text);
        expectEqual(more, [], 'further progress');
      }
    },
  ),

  hubRule(
    'CALL-16',
    'Permitted races',
    'A result against a cancellation answers the call once, whichever comes first.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      for (let race = 0; race < RACES; race += 1) {
        const call = caller.startCall(name, 'f');
        server.answer(await server.forwarded(), { result: race });
        const cancel = caller.start('remote-call-cancel', { nonce: call });
        const [reply, { cancelled }] = [await caller.reply(call), await caller.reply(cancel)];
        if (cancelled === 1) expectError(reply, 'call-cancelled', 'a call that was cancelled');
        else expectMembers(reply, { result: race }, 'a reply, since nothing was cancelled,');
      }
      await caller.settle();
      const more = caller.inbox.untaken(({ message }) => !('action' in message)).map(({ text }) => text);
      expectEqual(more, [], 'second replies');
    },
  ),
];
