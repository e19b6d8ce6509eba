import { closeSync, existsSync, openSync } from 'node:fs';
import { connect } from '@remotes-hub/client';
import { createHub, createLogger } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { CommandProcess, run, startHub, temporaryFolder } from './run-command.js';

const weatherModule = `
export const get_forecast = {
  description: 'Weather forecast of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }) => 'sunny in ' + city,
};
export const hang = (args, { signal, progress }) => new Promise((resolve, reject) => {
  progress('started');
  signal.addEventListener('abort', () => { console.error('aborted'); reject(signal.reason); });
});
export const wait = (args, { progress }) => new Promise((resolve) => {
  progress('started');
  process.on('SIGTERM', () => setTimeout(resolve, 100, 'finished'));
});
process.on('SIGTERM', () => console.error('told to stop'));
setInterval(() => {}, 1000);
`;

function environmentOf(stderr: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [, name = '', value = ''] of stderr.matchAll(/export (\w+)=(\S+)/g)) env[name] = value;
  return env;
}

test('CLI-01, CLI-02: start without a configuration serves whoever has the printed token', async () => {
  await using hub = new CommandProcess(['start', '--port', '0']);
  await hub.output(/npx remotes-hub list/);
  const lines = hub.stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  const env = environmentOf(hub.stderr);
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'listening', url: env['REMOTES_HUB_URL'] }));
  expect(env['REMOTES_HUB_URL']).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);

  await using session = await connect(`${env['REMOTES_HUB_URL']?.replace('http', 'ws') ?? ''}/ws`, {
    token: env['REMOTES_HUB_TOKEN'] ?? '',
    reconnect: false,
  });
  expect(session.userId).toBe('dev');
  expect(await session.agents()).toEqual([
    { agentId: 'assistant', name: 'Offline assistant', tools: ['current_time'] },
  ]);

  const ending = await hub.stop('SIGTERM');
  expect(ending.exitCode).toBe(0);
  expect(ending.stdout).not.toContain(env['REMOTES_HUB_TOKEN']);
  expect(await session.closed).toMatchObject({ code: 1001 });
});

test.runIf(existsSync('/dev/full'))(
  'CLI-01: a log that cannot be written stops neither the hub nor its end',
  async () => {
    const full = openSync('/dev/full', 'w');
    await using hub = new CommandProcess(['start', '--port', '0'], {}, full);
    closeSync(full);
    await hub.output(/npx remotes-hub list/);
    const env = environmentOf(hub.stderr);
    await using session = await connect(`${env['REMOTES_HUB_URL']?.replace('http', 'ws') ?? ''}/ws`, {
      token: env['REMOTES_HUB_TOKEN'] ?? '',
      reconnect: false,
    });
    await session.ping();
    const { exitCode, stderr } = await hub.stop('SIGTERM');
    expect(exitCode).toBe(0);
    expect(stderr.match(/lines of the log are lost/gu)).toHaveLength(1);
  },
);

test('CLI-01: start takes a configuration, options win over it, and the line comes at every level', async () => {
  using folder = temporaryFolder();
  const secret = 'a secret of thirty-two bytes, ok';
  folder.write('key', `${secret}\n`);
  const file = folder.write(
    'hub.json',
    '{"port":1,"path":"/hub","auth":{"secret":"file:key"},"log":{"level":"silent"}}',
  );
  await using hub = new CommandProcess(['start', '--config', file, '--port', '0', '--host', '0.0.0.0']);
  const [, port = ''] = await hub
    .output(/"msg":"listening"/)
    .then(() => /"port":(\d+)/.exec(hub.stdout) ?? []);
  const { stdout: token } = await run(['token', '--user', 'bob', '--config', file]);
  const env = { REMOTES_HUB_URL: `ws://127.0.0.1:${port}/hub`, REMOTES_HUB_TOKEN: token.trim() };
  expect(await run(['list'], env)).toMatchObject({ exitCode: 0 });
  expect(await hub.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('CLI-03: start does not open a host to everybody', async () => {
  await using hub = new CommandProcess(['start', '--port', '0', '--host', '0.0.0.0']);
  const ending = await hub.ended();
  expect(ending).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ending.stderr).toContain('nothing says who may log in');
});

test('start says why it cannot listen', async () => {
  await using hub = await startHub();
  const { exitCode, stderr } = await run(['start', '--port', new URL(hub.url).port]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('cannot listen on 127.0.0.1');
  expect(stderr).toContain('EADDRINUSE');
});

test('CLI-04: serve serves a module until it is told to stop', async () => {
  using folder = temporaryFolder();
  await using hub = await startHub();
  const module = folder.write('weather.mjs', weatherModule);
  await using serving = new CommandProcess(['serve', module, '--name', 'weather'], hub.env);
  await serving.output(/serving weather: get_forecast, hang, wait\n/);
  const called = await run(['call', 'weather', 'get_forecast', '{"city":"Rome"}'], hub.env);
  expect(called).toEqual({ exitCode: 0, stdout: 'sunny in Rome\n', stderr: '' });
  await serving.output(/weather#0 get_forecast: done in \d+ ms/);

  const taken = await run(['serve', module, '--name', 'weather'], hub.env);
  expect(taken.exitCode).toBe(1);
  expect(taken.stderr).toContain("remote 'weather' is already connected (remote-already-connected)");

  expect(await serving.stop('SIGTERM')).toMatchObject({ exitCode: 0 });
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, sessions: 0 });
});

test('CLI-04: a call in flight is finished before serve ends', async () => {
  using folder = temporaryFolder();
  await using hub = await startHub();
  const module = folder.write('weather.mjs', weatherModule);
  await using serving = new CommandProcess(['serve', module, '--name', 'weather', '--json'], hub.env);
  await serving.output(/\{"remotename":"weather","functions":\["get_forecast","hang","wait"\]\}/);
  await using calling = new CommandProcess(['call', 'weather', 'wait'], hub.env);
  await calling.output(/progress: started/);
  expect(await serving.stop('SIGTERM')).toMatchObject({ exitCode: 0 });
  expect(await calling.ended()).toMatchObject({ exitCode: 0, stdout: 'finished\n' });
});

test('CLI-04: serve comes back with the hub, and serves again', async () => {
  using folder = temporaryFolder();
  const first = await startHub();
  const module = folder.write('w.mjs', weatherModule);
  await using serving = new CommandProcess(['serve', module, '--name', 'w'], first.env);
  await serving.output(/serving w/);
  await first.hub.close();
  await serving.output(/connection lost \(1001.*\), reconnecting/);
  const second = createHub({ config: { auth: { secret: first.secret } }, log: createLogger('silent') });
  await second.listen({ host: '127.0.0.1', port: Number(new URL(first.url).port) });

  await serving.output(/connected again/);
  await eventually(() => second.counts().remotes === 1, 'it is served again');
  expect(await serving.stop('SIGTERM')).toMatchObject({ exitCode: 0 });
  await second.close();
});

test('CLI-07: serve ends with exit code 3 when the hub closes', async () => {
  using folder = temporaryFolder();
  await using hub = await startHub();
  await using serving = new CommandProcess(
    ['serve', folder.write('w.mjs', weatherModule), '--name', 'w', '--no-reconnect'],
    hub.env,
  );
  await serving.output(/serving w/);
  await hub.hub.close();
  const ending = await serving.ended();
  expect(ending.exitCode).toBe(3);
  expect(ending.stderr).toContain('the hub has closed the connection (1001');
});

test('Ctrl-C cancels a call', async () => {
  using folder = temporaryFolder();
  await using hub = await startHub();
  await using serving = new CommandProcess(
    ['serve', folder.write('w.mjs', weatherModule), '--name', 'w'],
    hub.env,
  );
  await serving.output(/serving w/);
  await using calling = new CommandProcess(['call', 'w', 'hang', '--json'], hub.env);
  await calling.output(/progress: started/);
  const ending = await calling.stop('SIGINT');
  expect(ending.exitCode).toBe(1);
  expect(JSON.parse(ending.stdout)).toMatchObject({ code: 'call-cancelled' });
  await serving.output(/aborted/);
});

test('a second signal ends a command at once', async () => {
  using folder = temporaryFolder();
  await using hub = await startHub();
  const module = folder.write('w.mjs', weatherModule);
  await using serving = new CommandProcess(['serve', module, '--name', 'w'], hub.env);
  await serving.output(/serving w/);
  await using calling = new CommandProcess(['call', 'w', 'hang'], hub.env);
  await calling.output(/progress: started/);
  serving.signal('SIGTERM');
  await serving.output(/told to stop/);
  expect(await serving.stop('SIGTERM')).toMatchObject({ exitCode: 1 });
  const called = await calling.ended();
  expect(called.exitCode).toBe(1);
  expect(called.stderr).toContain('(remote-disconnected, executed: unknown)');
});

test('CLI-05: Ctrl-C cancels a run', async () => {
  await using hub = await startHub({ agents: [{ id: 'a', name: 'A', model: { provider: 'offline' } }] });
  hub.hub.connectRemote({
    userId: 'ada',
    remotename: 'weather',
    functions: [
      { name: 'get_forecast', description: 'Weather forecast', handler: () => new Promise(() => {}) },
    ],
  });
  await using prompting = new CommandProcess(
    ['prompt', 'a', 'weather forecast', '--remote', 'weather'],
    hub.env,
  );
  await prompting.output(/calls get_forecast/);
  const ending = await prompting.stop('SIGINT');
  expect(ending.exitCode).toBe(1);
  expect(ending.stderr).toContain('the run ended: cancelled');
});

test('a module that cannot be served is wrong usage', async () => {
  using folder = temporaryFolder();
  await using broken = new CommandProcess([
    'serve',
    folder.write('broken.mjs', 'export const x = ;'),
    '--name',
    'x',
  ]);
  await using empty = new CommandProcess([
    'serve',
    folder.write('empty.mjs', 'export const x = 1;'),
    '--name',
    'x',
  ]);
  const [brokenEnding, emptyEnding] = await Promise.all([broken.ended(), empty.ended()]);
  expect(brokenEnding.exitCode).toBe(2);
  expect(brokenEnding.stderr).toContain('cannot be loaded: SyntaxError');
  expect(emptyEnding.exitCode).toBe(2);
  expect(emptyEnding.stderr).toContain('exports no functions');
});
