import { expectEqual, expectError, expectThat } from '../expectations.js';
import { hubRule, type HubUnderTest } from '../hub-under-test.js';
import { RuleSkipped } from '../rule.js';

/** The most that is sent to find a limit. */
const MAX_SENT_BYTES = 32 * 1024 * 1024;

/** The largest frame of the hub, as its login reply says. */
async function maxMessageBytes(hub: HubUnderTest): Promise<number> {
  const { reply } = await hub.tryLogin();
  const bytes = reply['maxMessageBytes'];
  expectThat(
    typeof bytes === 'number' && Number.isInteger(bytes) && bytes > 0,
    'maxMessageBytes: a size',
    reply,
  );
  if (bytes > MAX_SENT_BYTES) throw new RuleSkipped(`its limit of ${bytes} bytes is too large to try`);
  return bytes;
}

export const frameRules = [
  hubRule(
    'WIRE-11',
    'Subprotocol',
    'remotes.v1 is selected when offered and never required.',
    async (hub) => {
      const offers: readonly [offered: string | undefined, selected: string | undefined][] = [
        ['remotes.v1', 'remotes.v1'],
        ['other, remotes.v1', 'remotes.v1'],
        ['other', undefined],
        [undefined, undefined],
      ];
      for (const [offered, selected] of offers) {
        const { status, headers } = await hub.upgrade(
          offered === undefined ? {} : { 'Sec-WebSocket-Protocol': offered },
        );
        expectEqual(status, 101, `the status of an upgrade that offers ${offered ?? 'nothing'}`);
        expectEqual(
          headers['sec-websocket-protocol'],
          selected,
          `what is selected of ${offered ?? 'nothing'}`,
        );
      }
    },
  ),

  hubRule(
    'WIRE-12',
    'Frames',
    'A binary frame gets malformed-message; the ninth closes with 1003.',
    async (hub) => {
      const session = await hub.login();
      for (let count = 1; count <= 8; count += 1) {
        session.socket.send(Buffer.from('{"action":"ping","nonce":"b"}'), { binary: true });
        const { message } = await session.nextReply('an answer to a binary frame');
        expectError(message, 'malformed-message', 'a binary frame');
        expectThat(!('nonce' in message), 'an error without a nonce', message);
      }
      await session.settle();
      session.socket.send(Buffer.from('{}'), { binary: true });
      expectEqual((await session.closed('a close after nine binary frames')).code, 1003, 'the close code');
    },
  ),

  hubRule(
    'K003',
    'Frames',
    'A frame above the limit closes its own session alone, with 1009.',
    async (hub) => {
      const bytes = await maxMessageBytes(hub);
      const [session, other] = [await hub.login(), await hub.login()];
      const start = '{"action":"ping","nonce":"big","x":"';
      session.send(`${start}${'x'.repeat(bytes - start.length - 2)}"}`);
      expectEqual((await session.reply('big'))['message'], 'pong', 'the answer to the largest frame');
      session.send(`${start}${'x'.repeat(bytes - start.length - 1)}"}`);
      expectEqual(
        (await session.closed('a close after a frame above the limit')).code,
        1009,
        'the close code',
      );
      await other.settle();
    },
  ),

  hubRule(
    'K005',
    'Frames',
    'A text frame that is not UTF-8 closes its own session alone, with 1007.',
    async (hub) => {
      const [session, other] = [await hub.login(), await hub.login()];
      session.socket.send(Buffer.from([0x22, 0xc3, 0x28, 0x22]), { binary: false });
      expectEqual(
        (await session.closed('a close after bytes that are not UTF-8')).code,
        1007,
        'the close code',
      );
      await other.settle();
    },
  ),
];
