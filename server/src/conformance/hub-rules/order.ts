import { expectEqual, expectMembers, expectThat } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';
import type { Frame } from '../inbox.js';
import type { WireSession } from '../wire-session.js';

function placeOf(session: WireSession, fits: (frame: Frame) => boolean): number {
  return session.inbox.received.findIndex((frame) => fits(frame));
}

function expectReplyFirst(session: WireSession, nonce: string, action: string): void {
  const reply = placeOf(session, ({ message }) => !('action' in message) && message['nonce'] === nonce);
  const event = placeOf(session, ({ message }) => message['action'] === action);
  const order = session.inbox.received.map(({ text }) => text);
  expectThat(reply !== -1 && event > reply, `the reply before the event ${action}`, order);
}

export const orderRules = [
  hubRule('WIRE-10', 'Order', 'No event precedes the reply to the request that caused it.', async (hub) => {
    const session = await hub.open();
    const login = session.start('authenticate', { token: hub.target.token });
    await session.next('session-opened');
    expectReplyFirst(session, login, 'session-opened');
    const remotename = hub.newName();
    const connect = session.start('remote-connect', { remotename, tools: [] });
    await session.next('remote-connected', ['remotename', remotename]);
    expectReplyFirst(session, connect, 'remote-connected');
    const disconnect = session.start('remote-disconnect', { remotename });
    await session.next('remote-disconnected', ['remotename', remotename]);
    expectReplyFirst(session, disconnect, 'remote-disconnected');
  }),

  hubRule(
    'K017',
    'Order',
    'Login, connect and list sent together are all answered, in that order.',
    async (hub) => {
      const session = await hub.open();
      const remotename = hub.newName();
      const nonces = [
        session.start('authenticate', { token: hub.target.token }),
        session.start('remote-connect', { remotename, tools: [] }),
        session.start('remote-list'),
        session.start('ping'),
      ];
      const replies = [];
      for (const nonce of nonces) replies.push((await session.nextReply(`the reply to ${nonce}`)).message);
      expectEqual(
        replies.map(({ nonce }) => nonce),
        nonces,
        'the nonces of the replies in order',
      );
      for (const reply of replies) expectThat(!('error' in reply), 'no error', reply);
      expectThat(
        JSON.stringify(replies[2]).includes(remotename),
        `the list to have the remote just connected (${remotename})`,
        replies[2],
      );
    },
  ),

  hubRule(
    'K019',
    'Order',
    'Messages are answered in order, and a call that waits holds up no later one.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const call = caller.startCall(name, 'f');
      const later = [caller.start('ping'), caller.start('remote-list'), caller.start('no-such-action')];
      for (const nonce of later) {
        expectEqual((await caller.nextReply()).message['nonce'], nonce, 'the nonce of the next reply');
      }
      server.answer(await server.forwarded(), { result: 'late' });
      expectMembers(await caller.reply(call), { result: 'late' }, 'the reply to the call');

      const calls = Array.from({ length: 20 }, (_, n) => caller.startCall(name, 'f', { n }));
      for (const [n] of calls.entries()) {
        const forwarded = await server.next('remote-call');
        expectMembers(forwarded, { args: { n } }, 'calls forwarded in the order they were sent: a call');
        server.answer(forwarded['requestId'], { result: n });
      }
      for (const [n, nonce] of calls.entries()) {
        expectMembers(await caller.reply(nonce), { result: n }, `the reply to call ${n}`);
      }
    },
  ),
];
