import { clientRule, pause } from '../client-under-test.js';
import { expectEqual, expectThat, memberOf } from '../expectations.js';
import type { PlayedConnection } from '../played-connection.js';

/** How long a client is watched that must not come back. */
const WATCHED_MS = 2_000;
/** Most attempts in {@link WATCHED_MS} of a client whose waits grow. */
const MAX_ATTEMPTS = 8;
const RECONNECT_AFTER_MS = 2_500;

/** The instanceId of a login, in whichever way it was given; `undefined` when there was none. */
function instanceOf({ headers, inbox }: PlayedConnection): unknown {
  const login = inbox.received.find(({ message }) => message['action'] === 'authenticate');
  return login === undefined ? headers['remotes-instance-id'] : memberOf(login.message, 'body', 'instanceId');
}

export const closingRules = [
  clientRule('CLIENT-25', 'Close codes', 'It does not come back after 4409.', async (client) => {
    const connection = await client.serving();
    connection.start('wait', { ms: 60_000 });
    connection.socket.close(4409, 'replaced by a later session');
    expectEqual((await connection.closed()).code, 4409, 'the code with which it answers the close');
    const again = await client.connectionWithin(WATCHED_MS);
    expectThat(again === undefined, 'no connection after 4409', 'another connection');
  }),

  clientRule(
    'CLIENT-26',
    'Close codes',
    'It answers a close with 1001; when it comes back it serves its remotes again.',
    async (client) => {
      const connection = await client.serving();
      await connection.run('echo', { value: 1 });
      connection.socket.close(1001, 'the hub is going away');
      expectEqual((await connection.closed()).code, 1001, 'the code with which it answers the close');
      const again = await client.connectionWithin(15_000);
      if (again === undefined) return; // a client need not come back by itself
      await client.served(again);
      const earlier = instanceOf(connection);
      expectEqual(instanceOf(again), earlier, 'the instanceId of the client that has come back');
      await again.settle();
    },
  ),

  clientRule(
    'CLIENT-27',
    'Writing a client',
    'It does not storm a hub that sends it away.',
    async (client) => {
      const connection = await client.serving();
      connection.socket.close(1001, 'the hub is going away');
      const end = performance.now() + WATCHED_MS;
      while (performance.now() < end) {
        for (const { socket } of client.connections) socket.close(1001);
        await pause(5);
      }
      const { length } = client.connections;
      expectThat(
        length <= MAX_ATTEMPTS,
        `at most ${MAX_ATTEMPTS} connections in ${WATCHED_MS} ms`,
        `${length}`,
      );
    },
  ),

  clientRule(
    'CLIENT-28',
    'session-closing',
    'After session-closing it does not come back sooner than that says.',
    async (client) => {
      const connection = await client.serving();
      connection.send({
        action: 'session-closing',
        body: { sessionId: 's1', reconnectAfterMs: RECONNECT_AFTER_MS },
      });
      connection.socket.close(1001, 'the hub is going away');
      await connection.closed();
      const early = await client.connectionWithin(RECONNECT_AFTER_MS - 200);
      expectThat(early === undefined, `no connection within ${RECONNECT_AFTER_MS} ms`, 'a connection');
    },
  ),

  clientRule(
    'CLIENT-29',
    'Resuming',
    'Calls of a connection that was lost are not answered on another, unless it resumed them.',
    async (client) => {
      const connection = await client.serving();
      connection.start('wait', { ms: 1_500 });
      await connection.settle();
      connection.socket.terminate();
      const again = await client.connectionWithin(15_000);
      if (again === undefined) return; // a client need not come back by itself
      await client.served(again);
      await pause(2_000);
      expectEqual(again.untakenAnswers(), [], 'answers to calls of the lost connection');
      await again.settle();
    },
  ),
];
