/**
 * Whether the hub forgets what is over: `scripts/soak` opens and closes 10,000 sessions and makes 100,000 calls,
 * and compares the hub's heap after a full collection with what it was. Exits with 1 when more than 2 MiB or an
 * entry stays behind.
 */
import { Caller, openSocket, serveEcho } from './load.js';
import { Target } from './targets.js';

const SESSIONS = 10_000;
const CALLS = 100_000;
const AT_ONCE = 100;
const TOLERANCE_BYTES = 2 * 1024 * 1024;

const MIB = 1024 * 1024;
const show = (bytes: number): string => `${(bytes / MIB).toFixed(2)} MiB`;

using hub = await Target.start('hub');
await churn(1_000); // code and caches warm, so that they do not count
await call(10_000);
const before = await hub.heap();
await churn(SESSIONS);
const afterSessions = await hub.heap();
await call(CALLS);
const afterCalls = await hub.heap();
const counts = await hub.counts();

console.log(`heap before: ${show(before.heapUsed)} (RSS ${show(before.rss)})`);
console.log(
  `after ${SESSIONS} sessions opened and closed: ${show(afterSessions.heapUsed)} (RSS ${show(afterSessions.rss)})`,
);
console.log(`after ${CALLS} calls more: ${show(afterCalls.heapUsed)} (RSS ${show(afterCalls.rss)})`);
console.log(`left in the hub: ${JSON.stringify(counts)}`);
const grown = afterCalls.heapUsed - before.heapUsed;
const left = Object.values(counts).reduce((sum, count) => sum + count, 0);
process.exit(grown > TOLERANCE_BYTES || left > 0 ? 1 : 0);

async function churn(sessions: number): Promise<void> {
  for (let opened = 0; opened < sessions; opened += AT_ONCE) {
    const sockets = await Promise.all(Array.from({ length: AT_ONCE }, async () => openSocket(hub)));
    await Promise.all(
      sockets.map(async (socket) => {
        socket.close();
        await new Promise((resolve) => {
          socket.once('close', resolve);
        });
      }),
    );
  }
}

async function call(calls: number): Promise<void> {
  const serving = await serveEcho(hub);
  const caller = await Caller.open(hub);
  await caller.run(calls, 64);
  caller.close();
  serving.terminate();
  await new Promise((resolve) => {
    setTimeout(resolve, 500);
  });
}
