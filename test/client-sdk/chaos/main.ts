/** `scripts/chaos [seconds]`: what the client makes of a bad network. Ends with 1 when a rule was broken. */
import { setTimeout } from 'node:timers/promises';
import { runChaos } from './chaos.js';

const seconds = Number(process.argv[2] ?? 60);
const report = await runChaos(seconds);
console.log(JSON.stringify({ seconds, ...report }, null, 2));
const isOpen = (kind: string): boolean => kind === 'Timeout' || kind.includes('Socket');
let left = process.getActiveResourcesInfo().filter(isOpen);
// sockets that were destroyed are closed a moment later
for (let wait = 0; left.length > 0 && wait < 20; wait += 1) {
  await setTimeout(100);
  left = process.getActiveResourcesInfo().filter(isOpen);
}
if (left.length > 0) console.error(`left open: ${left.join()}`);
process.exit(report.problems.length === 0 && left.length === 0 ? 0 : 1);
