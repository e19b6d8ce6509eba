/**
 * `scripts/faults [--seconds 90] [--lease-ms 5000] [--faults NAME,…] [--json]`: what sessions of several nodes see when
 * nodes, Redis and the network between them fail. Ends with 1 when something does not hold, with 2 when it is used wrongly.
 */
import { parseArgs } from 'node:util';
import { redisPath } from '../../support/redis.js';
import { faults } from './faults.js';
import { formatReport } from './report.js';
import { runFaults } from './run-faults.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '90' },
    'lease-ms': { type: 'string', default: '5000' },
    faults: { type: 'string', default: [...faults.keys()].join() },
    json: { type: 'boolean', default: false },
  },
});
const names = values.faults.split(',');
const seconds = Number(values.seconds);
const leaseMs = Number(values['lease-ms']);
const unknown = names.filter((name) => !faults.has(name));

if (redisPath === undefined) usage('redis-server is not installed (Debian: apt-get install redis-server)');
if (unknown.length > 0) usage(`no such fault: ${unknown.join()}; there are ${[...faults.keys()].join()}`);
if (!(seconds > 0) || !(leaseMs > 0)) usage('--seconds and --lease-ms are numbers above 0');

const report = await runFaults({ names, seconds, leaseMs, progress: (text) => console.error(text) });
console.log(values.json ? JSON.stringify(report, null, 2) : formatReport(report));
process.exit(report.problems.length === 0 ? 0 : 1);

function usage(text: string): never {
  console.error(text);
  process.exit(2);
}
