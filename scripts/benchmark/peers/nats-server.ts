/** The `nats-server` in PATH, as a process that is measured; this program only starts it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NodeStart, ownNodeStart } from '../node-start.js';
import { freePort, listening } from '../ports.js';
import { announce } from '../servers/instruments.js';

const port = await freePort();
const node = ownNodeStart();
const config = join(mkdtempSync(join(tmpdir(), 'nats-')), 'nats.conf');
writeFileSync(config, `max_payload: 4MB\n${node === undefined ? '' : cluster(node)}`);
const server = spawn('nats-server', ['--addr', '127.0.0.1', '--port', String(port), '--config', config], {
  stdio: 'ignore',
});
server.once('exit', () => process.exit(1));
process.once('exit', () => server.kill('SIGKILL'));
await listening(port);
announce({ url: `nats://127.0.0.1:${port}`, pid: server.pid ?? 0 });

/** Linked with the other node by a route of its own, not by Redis. */
function cluster({ linkPorts, node: own }: NodeStart): string {
  const [own1, own2] = linkPorts;
  const [listen, other] = own === 1 ? [own1, own2] : [own2, own1];
  return `cluster { name: bench, listen: "127.0.0.1:${listen}", routes: ["nats://127.0.0.1:${other}"] }\n`;
}
