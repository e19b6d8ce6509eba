/** The `nats-server` in PATH, as a process that is measured; this program only starts it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { announce } from '../servers/instruments.js';
import { freePort } from './free-port.js';

const port = await freePort();
const config = join(mkdtempSync(join(tmpdir(), 'nats-')), 'nats.conf');
writeFileSync(config, 'max_payload: 4MB\n');
const server = spawn('nats-server', ['--addr', '127.0.0.1', '--port', String(port), '--config', config], {
  stdio: 'ignore',
});
server.once('exit', () => process.exit(1));
process.once('exit', () => server.kill('SIGKILL'));
while (!(await isListening())) await setTimeout(20);
announce({ url: `nats://127.0.0.1:${port}`, pid: server.pid ?? 0 });

async function isListening(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
