import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { soon } from '../../support/eventually.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { Message, TestSession } from '../../support/session.js';

const besideRepository = '../../../../shared/data/json-test-suite/test_parsing';
const folder = process.env['JSON_TEST_SUITE'] ?? fileURLToPath(new URL(besideRepository, import.meta.url));
const isThere = existsSync(folder);
const withSuite = test.skipIf(!isThere);
const where = isThere ? '' : ' (skipped: the suite is absent, set JSON_TEST_SUITE to its test_parsing)';

const ofJson = /^(?:the frame is JSON, but not an object|action: expected a string)$/u;
const ofNoJson = /^(?:the frame is not well-formed JSON|the message is nested deeper than 128 levels)$/u;

interface SuiteFile {
  readonly name: string;
  readonly verdict: 'y' | 'n' | 'i';
  readonly bytes: Buffer;
}

const files: readonly SuiteFile[] = (isThere ? readdirSync(folder) : [])
  .filter((name) => /^[yni]_.*\.json$/u.test(name))
  .map((name) => ({
    name,
    verdict: name.startsWith('y') ? 'y' : name.startsWith('n') ? 'n' : 'i',
    bytes: readFileSync(join(folder, name)),
  }));

/** What comes next: a frame of one of these sessions that is no event, or the close code of the first. */
async function nextOf(...sessions: [TestSession, ...TestSession[]]): Promise<Message | { closed: number }> {
  let stop = (): void => undefined;
  const outcome = new Promise<Message | { closed: number }>((resolve, reject) => {
    const take = (data: unknown): void => {
      const message = JSON.parse(String(data)) as Message;
      if (!('body' in message)) resolve(message);
    };
    for (const { socket } of sessions) socket.on('message', take);
    stop = () => {
      for (const { socket } of sessions) socket.off('message', take);
    };
    sessions[0].closed.then(({ code }) => resolve({ closed: code }), reject);
  });
  try {
    return await soon(outcome, 'an outcome');
  } finally {
    stop();
  }
}

function isUtf8(bytes: Buffer): boolean {
  return Buffer.compare(Buffer.from(bytes.toString()), bytes) === 0;
}

async function framesOf(
  hub: TestHub,
  check: (session: TestSession, file: SuiteFile) => Promise<void>,
): Promise<void> {
  let session = await hub.connect();
  for (const file of files) {
    if (!session.isOpen) session = await hub.connect();
    await check(session, file);
  }
}

withSuite(`WIRE-05: every file of the suite as a frame is answered as JSON or as none${where}`, async () => {
  await using hub = await startTestHub();
  expect(files.length).toBeGreaterThan(300);
  await framesOf(hub, async (session, { name, verdict, bytes }) => {
    session.socket.send(bytes, { binary: false });
    const answer = await nextOf(session);
    if (!isUtf8(bytes)) {
      expect({ name, answer }).toEqual({ name, answer: { closed: 1007 } });
      return;
    }
    expect({ name, answer }).toMatchObject({ name, answer: { code: 'malformed-message' } });
    const error = 'error' in answer ? String(answer['error']) : '';
    if (verdict === 'y') expect([name, error]).toEqual([name, expect.stringMatching(ofJson)]);
    if (verdict === 'n') expect([name, error]).toEqual([name, expect.stringMatching(ofNoJson)]);
  });
  const alive = await hub.connect();
  await alive.settle();
});

withSuite(
  `WIRE-05: as arguments what is JSON is forwarded byte for byte and the rest never is${where}`,
  async () => {
    await using hub = await startTestHub();
    const serving = await hub.connect();
    await serving.serve('x', ['f']);
    const forwarded: string[] = [];
    await framesOf(hub, async (caller, { name, verdict, bytes }) => {
      const args = Buffer.concat([Buffer.from('{"v":'), bytes, Buffer.from('}')]);
      const head = Buffer.from(
        '{"action":"remote-call","nonce":1,"body":{"remotename":"x","function":"f","args":',
      );
      caller.socket.send(Buffer.concat([head, args, Buffer.from('}}')]), { binary: false });
      const answer = await nextOf(caller, serving);
      const outcome = 'closed' in answer ? answer.closed : (answer['code'] ?? answer['action']);
      if (verdict === 'y') expect({ name, outcome }).toEqual({ name, outcome: 'remote-call' });
      if (verdict === 'n')
        expect({ name, outcome }).toEqual({ name, outcome: isUtf8(bytes) ? 'malformed-message' : 1007 });
      if ('closed' in answer || outcome !== 'remote-call') return;
      const { requestId } = answer;
      const sent = `{"action":"remote-call","requestId":"${String(requestId)}","function":"f","args":${args.toString()}}`;
      expect(serving.frames.at(-1)).toBe(sent);
      forwarded.push(name);
      serving.send({ action: 'remote-call-result', requestId, result: null });
      expect(await nextOf(caller)).toEqual({ result: null, nonce: 1 });
    });
    expect(forwarded.filter((name) => name.startsWith('n'))).toEqual([]);
    await serving.settle();
  },
);
