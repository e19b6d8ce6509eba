import { expect, test } from 'vitest';
import {
  runnableBlock,
  runProgram,
  runShell,
  startShell,
  type RunningShell,
} from '../support/documentation.js';
import { eventually } from '../support/eventually.js';
import { startTestHub } from '../support/hub.js';

const page = 'README.md';

/** Several Node processes start, perhaps on a busy machine. */
const SHELL_PATIENCE_MS = 60_000;

async function started(shell: RunningShell, pattern: RegExp): Promise<string> {
  const find = (): string | undefined => {
    const { stdout, stderr } = shell.output();
    return pattern.exec(stdout + stderr)?.[1];
  };
  await eventually(() => find() !== undefined, `${String(pattern)} printed`, SHELL_PATIENCE_MS);
  return find() ?? '';
}

test('DOC-01 DOC-02: the demo shows every step and ends with 0', { timeout: 120_000 }, async () => {
  const { code, stdout } = await runShell(runnableBlock(page, 'demo'));

  expect(stdout).toContain('get_forecast {"city":"Rome"} -> {"forecast":"sunny","city":"Rome"}');
  expect(stdout).toContain('/city: expected string, received number (code invalid-arguments, executed: no)');
  expect(stdout).toContain('did not answer within 300 ms (code call-timeout, executed: unknown)');
  expect(stdout).toContain('(code remote-disconnected, executed: unknown)');
  expect(stdout).toContain('the agent calls get_forecast {"city":"Rome"}');
  expect(stdout).not.toContain('unexpected');
  expect(code).toBe(0);
});

test(
  'DOC-02: the demo that is kept prints lines that work from another terminal',
  { timeout: 120_000 },
  async () => {
    await using demo = startShell('scripts/demo --keep');
    await started(demo, /(Ctrl-C ends it)/u);
    const { stdout } = demo.output();
    const lines = stdout.slice(stdout.indexOf('export REMOTES_HUB_URL'), stdout.indexOf('Ctrl-C ends it'));

    const tried = await runShell(lines);

    expect(tried.stdout).toContain('weather-service');
    expect(tried.stdout).toContain('"city":"Oslo"');
    expect(tried.stdout).toContain('get_forecast answered');
    expect(tried.code).toBe(0);
  },
);

test('DOC-01: the commands of "Try it by hand" work one after the other', { timeout: 120_000 }, async () => {
  // the packages are installed and built already, and another hub may hold the port: both are set aside here
  const start = runnableBlock(page, 'start').replace('npm ci && npm run build\n', '').trimEnd();
  expect(start).toMatch(/npx remotes-hub start$/u);
  await using hub = startShell(`${start} --port 0`);
  const env = {
    REMOTES_HUB_URL: await started(hub, /"url":"([^"]+)"/u),
    REMOTES_HUB_TOKEN: await started(hub, /REMOTES_HUB_TOKEN=(\S+)/u),
  };
  await using serving = startShell(runnableBlock(page, 'serve'), env);
  await started(serving, /(adder)/u);

  const { code, stdout } = await runShell(runnableBlock(page, 'call'), env);

  expect(stdout).toContain('adder');
  expect(stdout).toContain('42');
  expect(stdout).toContain('current_time answered');
  expect(code).toBe(0);
});

test('DOC-01: the Node example serves and calls', async () => {
  await using hub = await startTestHub();
  const example = `${runnableBlock(page, 'node example')}\nawait hub.close();`;

  const { code, stdout, stderr } = await runProgram(example, {
    REMOTES_HUB_URL: hub.url,
    REMOTES_HUB_TOKEN: await hub.token(),
  });

  expect(stdout).toBe(`{ forecast: 'sunny', city: 'Rome' }\n`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
