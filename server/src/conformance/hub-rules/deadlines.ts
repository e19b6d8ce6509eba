import { expectEqual, expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';

export const deadlineRules = [
  hubRule('CALL-12', 'Deadlines', "The caller's timeoutMs wins over the function's.", async (hub) => {
    const { server, caller, name } = await hub.pair([{ name: 'f', timeoutMs: 300 }], {
      server: { v1: true },
    });
    const own = caller.startCall(name, 'f');
    const first = await server.next('remote-call');
    expectThat(Number(first['timeoutMs']) <= 300, 'the timeout of the function (300 ms)', first);
    expectError(
      await caller.reply(own),
      'call-timeout',
      'a call above the timeout of its function',
      '300 ms',
    );
    caller.startCall(name, 'f', {}, { timeoutMs: 20_000 });
    const second = await server.next('remote-call');
    expectThat(Number(second['timeoutMs']) > 10_000, 'the timeout of the caller (20000 ms)', second);
  }),

  hubRule(
    'CALL-13',
    'Deadlines',
    'A call not answered in time: call-timeout, with the time in its text.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const start = performance.now();
      const reply = await caller.call(name, 'f', {}, { timeoutMs: 400 });
      const tookMs = performance.now() - start;
      expectError(reply, 'call-timeout', 'a call without an answer');
      expectEqual(reply['error'], `remote '${name}' did not answer within 400 ms`, 'the text of the error');
      expectThat(tookMs > 350 && tookMs < 3_000, 'the timeout after 400 ms', `one after ${tookMs} ms`);
      await server.settle();
    },
  ),

  hubRule('CALL-14', 'Deadlines', 'Progress restarts the timeout.', async (hub) => {
    const { server, caller, name } = await hub.pair(['f'], { server: { v1: true } });
    const nonce = caller.startCall(name, 'f', {}, { timeoutMs: 1_500 });
    const requestId = await server.forwarded();
    for (let count = 0; count < 4; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      server.send({ action: 'remote-call-progress', requestId, progress: count });
    }
    server.answer(requestId, { result: 'after 1800 ms' });
    expectMembers(await caller.reply(nonce), { result: 'after 1800 ms' }, 'the reply after progress');
  }),

  hubRule('K029', 'Deadlines', 'An answer after the timeout is ignored.', async (hub) => {
    const { server, caller, name } = await hub.pair(['f']);
    const nonce = caller.startCall(name, 'f', {}, { timeoutMs: 200 });
    const requestId = await server.forwarded();
    expectError(await caller.reply(nonce), 'call-timeout', 'a call without an answer');
    server.answer(requestId, { result: 'late' });
    await server.settle();
    await caller.settle();
    const more = caller.inbox.untaken(({ message }) => !('action' in message)).map(({ text }) => text);
    expectEqual(more, [], 'further replies');
  }),
];
