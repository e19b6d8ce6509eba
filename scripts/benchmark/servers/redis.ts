/** The `redis-server` in PATH, as a process that is measured, without a disk; this program only starts it. */
import { spawn } from 'node:child_process';
import { freePort, listening } from '../ports.js';
import { announce } from './instruments.js';

const port = await freePort();
const options = { bind: '127.0.0.1', port: String(port), save: '', appendonly: 'no' };
const redis = spawn(
  'redis-server',
  Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  { stdio: 'ignore' },
);
redis.once('error', () => process.exit(1));
redis.once('exit', () => process.exit(1));
process.once('exit', () => redis.kill('SIGKILL'));
await listening(port);
announce({ url: `redis://127.0.0.1:${port}`, pid: redis.pid ?? 0 });
