import { expectEqual, expectError, expectMembers, expectThat, memberOf } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';
import type { WireSession } from '../wire-session.js';

function eventsAbout(session: WireSession, remotename: string): string[] {
  return session.inbox
    .untaken(({ message }) => 'action' in message && memberOf(message, 'body', 'remotename') === remotename)
    .map(({ text }) => text);
}

export const sessionRules = [
  hubRule(
    'SESSION-01',
    'Life of a session',
    'session-opened reaches every session of the user.',
    async (hub) => {
      const first = await hub.login();
      const { session: second, reply } = await hub.tryLogin();
      const about = ['sessionId', reply['sessionId']] as const;
      await first.next('session-opened', about);
      await second.next('session-opened', about);
    },
  ),

  hubRule(
    'SESSION-02',
    'Life of a session',
    'When a session closes its remotes disconnect, and others are told.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      await server.close();
      await caller.next('remote-disconnected', ['remotename', name]);
      expectError(await caller.call(name, 'f'), 'remote-not-connected', 'a call to a remote that is gone');
      const again = await hub.login();
      await again.serve(name, ['f']);
    },
  ),

  hubRule(
    'SESSION-03',
    'Life of a session',
    'Two users may use the same names and never meet.',
    async (hub) => {
      const { server, name } = await hub.pair(['f']);
      const other = await hub.login({ token: hub.otherToken });
      expectError(await other.call(name, 'f'), 'remote-not-connected', "another user's remote");
      await other.serve(name, ['f']);
      const nonce = other.startCall(name, 'f');
      other.answer(await other.forwarded(), { result: 'other' });
      expectMembers(await other.reply(nonce), { result: 'other' }, "the reply of the user's own remote");
      expectMembers(
        await other.request('remote-disconnect', { remotename: name }),
        { remotename: name },
        'a reply',
      );
      const list = await server.request('remote-list');
      expectThat(JSON.stringify(list).includes(name), "the first user's remote to stay", list);
      await server.settle();
      expectEqual(eventsAbout(server, name).length, 1, 'events about the name (its own connect alone)');
    },
  ),

  hubRule(
    'K023',
    'Life of a session',
    'The late end of a replaced session takes nothing from its successor.',
    async (hub) => {
      const instanceId = hub.newInstanceId();
      const name = hub.newName();
      const first = await hub.login({ instanceId });
      await first.serve(name, ['old']);
      const second = await hub.login({ instanceId });
      await second.serve(name, ['new']);
      await first.closed('the end of the earlier session');
      await second.settle();
      const list = await second.request('remote-list');
      expectThat(JSON.stringify(list).includes(name), "the successor's remote to stay", list);
      const nonce = second.startCall(name, 'new');
      second.answer(await second.forwarded(), { result: 1 });
      expectMembers(await second.reply(nonce), { result: 1 }, 'a reply of the new remote');
    },
  ),

  hubRule(
    'EVENT-01',
    'remote-connected',
    'Connect and disconnect of a remote reach every session of the user.',
    async (hub) => {
      const [first, second] = [await hub.login(), await hub.login()];
      const remotename = hub.newName();
      await first.serve(remotename, []);
      await second.next('remote-connected', ['remotename', remotename]);
      await first.next('remote-connected', ['remotename', remotename]);
      await second.request('remote-disconnect', { remotename });
      await first.next('remote-disconnected', ['remotename', remotename]);
      await second.next('remote-disconnected', ['remotename', remotename]);
    },
  ),

  hubRule('EVENT-02', 'Events', 'A connection that has not logged in gets no event.', async (hub) => {
    const stranger = await hub.open();
    const session = await hub.login();
    const remotename = hub.newName();
    await session.serve(remotename, []);
    await session.next('remote-connected', ['remotename', remotename]);
    expectError(await stranger.request('ping'), 'not-authenticated', 'a ping before login');
    expectEqual(
      stranger.inbox.untaken().map(({ text }) => text),
      [],
      'messages before login',
    );
  }),

  hubRule(
    'K001',
    'Heartbeat',
    'The hub pings every 15 s and cuts off within 30 s who shows no sign of life.',
    async (hub) => {
      const [live, silent] = [await hub.login(), await hub.login({ answersPings: false })];
      const name = hub.newName();
      await silent.serve(name, ['f']);
      const pinged = new Promise<void>((resolve) => live.socket.once('ping', () => resolve()));
      await silent.closed('the silent session to be cut off within 30 s', 33_000);
      await pinged;
      await live.next('remote-disconnected', ['remotename', name]);
      await live.settle();
    },
    { isSlow: true, deadlineMs: 45_000 },
  ),
];
