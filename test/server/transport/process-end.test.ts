import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RawSocket, upgradeRequest } from '../../support/raw-socket.js';
import { TestSession } from '../../support/session.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Child extends Disposable {
  readonly process: ChildProcess;
  /** The next line on standard output that has this field. */
  line(field: string): Promise<Record<string, unknown>>;
  readonly exit: Promise<{ code: number | null; at: number }>;
  readonly errors: () => string;
}

/** Runs one of our sources in a process of its own. */
function start(...args: string[]): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', '-C', 'hub-source', ...args], {
    cwd: root,
    env: { ...process.env, REMOTES_HUB_SECRET: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    line: async (field) => {
      for (;;) {
        const next = await lines.next();
        if (next.done === true) throw new Error(`no line with ${field}: ${errors}`);
        const parsed = JSON.parse(next.value) as Record<string, unknown>;
        if (field in parsed) return parsed;
      }
    },
    exit: once(child, 'exit').then(([code]: unknown[]) => ({
      code: typeof code === 'number' ? code : null,
      at: performance.now(),
    })),
    errors: () => errors,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

test('K026: on SIGTERM calls fail, sessions close with 1001, a peer that does not close is cut off, exit code 0', async () => {
  using child = start('server/src/cli/main.ts', 'start', '--port', '0');
  const { url } = await child.line('url');
  const token = await tokenOf(child);
  const headers = { authorization: `Bearer ${token}` };
  const socketUrl = `${String(url).replace('http', 'ws')}/ws`;
  const sessions = [];
  for (let count = 0; count < 3; count += 1)
    sessions.push(await TestSession.open(socketUrl, [], { headers }));
  const [serving, caller] = sessions;
  if (serving === undefined || caller === undefined) throw new TypeError('no sessions');
  using stubborn = await RawSocket.open(String(url));
  stubborn.write(upgradeRequest('/ws', headers));
  await stubborn.until('session-opened');
  await serving.serve('x', ['f']);
  const reply = caller.call('x', 'f', {}, { timeoutMs: 600_000 });
  await serving.next('remote-call');

  const signalled = performance.now();
  child.process.kill('SIGTERM');
  expect(await reply).toMatchObject({ code: 'shutting-down', executed: 'unknown' });
  for (const session of sessions)
    expect(await session.end()).toEqual({ code: 1001, reason: 'the hub is going away' });
  using late = await RawSocket.open(String(url));
  late.write(upgradeRequest('/ws', headers));
  expect(await late.rest()).toMatch(/^HTTP\/1\.1 503 /u);

  const { code, at } = await child.exit;
  expect({ code, errors: child.errors().replaceAll(/^(?!.*(?:Error|Warning)).*\n/gmu, '') }).toEqual({
    code: 0,
    errors: '',
  });
  expect(at - signalled).toBeLessThan(10_000);
  expect(stubborn.text).toContain('the hub is going away');
});

/** The token that the command line prints for a person. */
async function tokenOf(child: Child): Promise<string> {
  for (;;) {
    const token = /REMOTES_HUB_TOKEN=(\S+)\n/u.exec(child.errors())?.[1];
    if (token !== undefined) return token;
    if (child.process.stderr !== null) await once(child.process.stderr, 'data');
  }
}

test('K046: after many calls and timeouts the process ends by itself within 1 s of the close of its hub', async () => {
  using child = start('test/server/transport/hub-process.ts');
  await child.line('closed');
  const closed = performance.now();
  const { code, at } = await child.exit;
  expect({ code, errors: child.errors() }).toEqual({ code: 0, errors: '' });
  expect(at - closed).toBeLessThan(1_000);
});
