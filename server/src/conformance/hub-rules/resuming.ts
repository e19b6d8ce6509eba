import { expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule, type HubUnderTest } from '../hub-under-test.js';
import type { WireSession } from '../wire-session.js';

interface Waiting {
  readonly instanceId: string;
  readonly name: string;
  readonly server: WireSession;
  readonly caller: WireSession;
  /** The nonce of the call, and the id with which it was forwarded. */
  readonly nonce: string;
  readonly requestId: string;
}

/** A call in flight to a remote that asked for resuming. */
async function callInFlight(hub: HubUnderTest): Promise<Waiting> {
  const instanceId = hub.newInstanceId();
  const server = await hub.login({ instanceId });
  const caller = await hub.login();
  const name = hub.newName();
  const body = { remotename: name, tools: [{ name: 'f' }], resumeMs: 20_000 };
  expectMembers(await server.request('remote-connect', body), { remotename: name }, 'a remote with resumeMs');
  const nonce = caller.startCall(name, 'f');
  return { instanceId, name, server, caller, nonce, requestId: await server.forwarded() };
}

/** Loses the session without a close frame, and logs in again as the same instance. */
async function comeBack(
  hub: HubUnderTest,
  { server, caller, name, instanceId }: Waiting,
): Promise<WireSession> {
  server.socket.terminate();
  await caller.next('remote-disconnected', ['remotename', name]);
  const { session, reply } = await hub.tryLogin({ instanceId });
  expectMembers(reply, { message: 'authenticated', resumed: true }, 'a login reply');
  return session;
}

export const resumingRules = [
  hubRule(
    'CALL-22',
    'Resuming',
    'A call in flight at the loss of its session is answered by the same instance, once.',
    async (hub) => {
      const waiting = await callInFlight(hub);
      const { caller, nonce, requestId, name } = waiting;
      const session = await comeBack(hub, waiting);
      expectError(await caller.call(name, 'f'), 'remote-not-connected', 'the name, which is free');
      session.answer(requestId, { result: 'after the loss' });
      session.answer(requestId, { result: 'again' });
      expectMembers(await caller.reply(nonce), { result: 'after the loss' }, 'the reply');
      await session.settle();
      await caller.settle();
      const more = caller.inbox.untaken(({ message }) => !('action' in message)).map(({ text }) => text);
      expectThat(more.length === 0, 'no further reply', more);
    },
  ),

  hubRule('CALL-23', 'Resuming', 'Request ids of a resumed instance go on counting.', async (hub) => {
    const waiting = await callInFlight(hub);
    const session = await comeBack(hub, waiting);
    await session.serve(waiting.name, ['f']);
    waiting.caller.startCall(waiting.name, 'f');
    const { requestId } = await session.next('remote-call');
    expectThat(requestId === `${waiting.name}#1`, `the request id ${waiting.name}#1`, requestId);
  }),

  hubRule(
    'CALL-25',
    'Resuming',
    'A session that ends with a close frame fails its calls at once, resumeMs or not.',
    async (hub) => {
      const { server, caller, nonce, instanceId } = await callInFlight(hub);
      server.socket.close(1000);
      const reply = await caller.reply(nonce);
      expectError(reply, 'remote-disconnected', 'a call in flight at a close');
      expectMembers(reply, { executed: 'unknown', retryable: false }, 'an error');
      const { reply: login } = await hub.tryLogin({ instanceId });
      expectThat(!('resumed' in login), 'a login reply without resumed', login);
    },
  ),

  hubRule(
    'CALL-27',
    'remote-call',
    'The error of a call that was forwarded has its request id, of another not.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const nonce = caller.startCall(name, 'f');
      const requestId = await server.forwarded();
      server.answer(requestId, { error: 'failed' });
      expectMembers(await caller.reply(nonce), { code: 'function-failed', requestId }, 'an error');
      const late = await caller.call(name, 'f', {}, { timeoutMs: 100 });
      expectMembers(late, { code: 'call-timeout', requestId: `${name}#1` }, 'an error');
      const reply = await caller.call(name, 'g');
      expectThat(!('requestId' in reply), 'no request id for a call that was not forwarded', reply);
    },
  ),

  hubRule(
    'REMOTE-14',
    'remote-connect',
    'resumeMs without an instanceId has no effect and, with remotes.v1, a warning.',
    async (hub) => {
      const session = await hub.login({ v1: true });
      const connect = { remotename: hub.newName(), tools: [], resumeMs: 1_000 };
      const { warnings } = await session.request('remote-connect', connect);
      const isNamed = Array.isArray(warnings) && JSON.stringify(warnings).includes('resumeMs');
      expectThat(isNamed, 'a warning about resumeMs', warnings);
      for (const resumeMs of [-1, 30_001, 1.5, '1000']) {
        const reply = await session.request('remote-connect', {
          ...connect,
          remotename: hub.newName(),
          resumeMs,
        });
        expectError(reply, 'invalid-body', `resumeMs: ${JSON.stringify(resumeMs)}`, 'body.resumeMs');
      }
    },
  ),
];
