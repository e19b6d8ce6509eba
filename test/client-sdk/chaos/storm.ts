/**
 * `scripts/storm [sessions]`: the hub of many sessions is taken away and comes back at once, first told to stop, then
 * killed. Prints when the sessions came back, by second. Ends with 1 when one did not.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connect, type Hub } from '@remotes-hub/client';

const SESSIONS = Number(process.argv[2] ?? 1_000);
const AT_ONCE = 50;
const PATIENCE_MS = 90_000;

interface HubProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}

async function startHub(port: string): Promise<HubProcess> {
  const file = fileURLToPath(new URL('hub-process.ts', import.meta.url));
  const child = fork(file, [port], { execArgv: ['--import', 'tsx', '-C', 'hub-source'] });
  const [{ url, token }] = (await once(child, 'message')) as [{ url: string; token: string }];
  return { child, url, token };
}

async function openSessions({ url, token }: HubProcess): Promise<Hub[]> {
  const clients: Hub[] = [];
  while (clients.length < SESSIONS) {
    const batch = Array.from({ length: Math.min(AT_ONCE, SESSIONS - clients.length) }, async () =>
      connect(url, { token }),
    );
    clients.push(...(await Promise.all(batch)));
  }
  return clients;
}

/** Seconds after the loss at which each session was open again. */
async function comeBack(clients: readonly Hub[], takeAway: () => Promise<void>): Promise<number[]> {
  let lostAt = 0;
  const back = clients.map(
    async (client) =>
      new Promise<number>((resolve) => {
        const off = client.on('state', ({ state }) => {
          if (state === 'reconnecting') lostAt ||= performance.now();
          if (state !== 'open') return;
          off();
          resolve((performance.now() - lostAt) / 1_000);
        });
      }),
  );
  await takeAway();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('not all sessions came back')), PATIENCE_MS);
  });
  try {
    return await Promise.race([Promise.all(back), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function show(what: string, seconds: readonly number[]): void {
  const bySecond = new Map<number, number>();
  for (const second of seconds.map(Math.floor)) bySecond.set(second, (bySecond.get(second) ?? 0) + 1);
  const busiest = Math.max(...bySecond.values()) / seconds.length;
  console.log(
    `${what}: ${seconds.length} sessions back, the last after ${Math.max(...seconds).toFixed(1)} s`,
  );
  for (const [second, count] of [...bySecond].toSorted(([a], [b]) => a - b))
    console.log(`  second ${second}: ${count}`);
  console.log(`  busiest second: ${(100 * busiest).toFixed(0)} %`);
}

let hub = await startHub('0');
const { port } = new URL(hub.url);
const clients = await openSessions(hub);
for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  const back = await comeBack(clients, async () => {
    const gone = once(hub.child, 'exit');
    hub.child.kill(signal);
    await gone;
    hub = await startHub(port);
  });
  show(signal, back);
  await new Promise((resolve) => setTimeout(resolve, 11_000)); // stable, so that the next loss is a first one
}
await Promise.all(clients.map(async (client) => client.close()));
hub.child.kill();
