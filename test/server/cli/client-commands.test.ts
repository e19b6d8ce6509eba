import { expect, test } from 'vitest';
import type { Model, ModelRequest } from '../../../server/src/agents/models/model.js';
import { doublingSchema } from '../../support/doubling-schema.js';
import { run, startHub } from './run-command.js';

const agents = [{ id: 7, name: 'Helper', model: { provider: 'offline' } } as const];

/** A hub whose user `ada` has a remote. */
async function startHubWithWeather() {
  const started = await startHub({ agents });
  started.hub.connectRemote({
    userId: 'ada',
    remotename: 'weather',
    functions: [
      {
        name: 'get_forecast',
        description: 'Weather forecast of a city\nand more about it',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        handler: ({ city }) => `sunny in ${JSON.stringify(city)}`,
      },
      { name: 'echo', handler: (args) => args },
      {
        name: 'fail',
        handler: () => {
          throw new Error('the station is down');
        },
      },
    ],
  });
  return started;
}

test('CLI-04: list shows remotes and functions, for people and for machines', async () => {
  await using hub = await startHubWithWeather();
  const human = await run(['list'], hub.env);
  expect(human).toMatchObject({ exitCode: 0, stderr: '' });
  expect(human.stdout).toContain('weather\n  get_forecast  Weather forecast of a city\n  echo\n');
  const machine = await run(['list', '--json'], hub.env);
  expect(JSON.parse(machine.stdout)).toMatchObject([
    { remotename: 'weather', tools: [{ name: 'get_forecast' }, {}, {}] },
  ]);
});

test('CLI-08: an empty list is empty on standard output', async () => {
  await using hub = await startHub();
  expect(await run(['list'], hub.env)).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'no remotes are connected\n',
  });
  expect(await run(['list', '--json'], hub.env)).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
});

test('CLI-10: lint prints what becomes of each function, and ends with 1 when one is refused', async () => {
  await using hub = await startHubWithWeather();
  expect(await run(['lint', 'weather'], hub.env)).toEqual({
    exitCode: 0,
    stdout: [
      'get_forecast  ok',
      'echo  ok',
      '  hint: it has no description: models choose by it',
      'fail  ok',
      '  hint: it has no description: models choose by it',
      '',
    ].join('\n'),
    stderr: '',
  });
  const long = 'p'.repeat(60);
  const mapped = await run(['lint', 'weather', '--prefix', long, '--json'], hub.env);
  expect(mapped).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(mapped.stdout)).toMatchObject({
    remotename: 'weather',
    functions: [{ name: 'get_forecast', providers: { anthropic: { status: 'mapped' } } }, {}, {}],
  });
  expect(await run(['lint', 'nobody'], hub.env)).toMatchObject({
    exitCode: 1,
    stderr: "error: no connected remote named 'nobody' (remote-not-connected)\n",
  });
});

test('CLI-10: lint says why a function is refused, and ends with 1 without another word', async () => {
  await using hub = await startHub();
  hub.hub.connectRemote({
    userId: 'ada',
    remotename: 'r',
    functions: [{ name: 'doubling', description: 'x', parameters: doublingSchema(16), handler: () => 1 }],
  });
  const human = await run(['lint', 'r'], hub.env);
  expect(human).toMatchObject({ exitCode: 1, stderr: '' });
  expect(human.stdout).toMatch(/^doubling {2}refused: the parameters hold more than 4000 schemas\n$/u);
  const machine = await run(['lint', 'r', '--json'], hub.env);
  expect(machine).toMatchObject({ exitCode: 1, stderr: '' });
  expect(JSON.parse(machine.stdout)).toMatchObject({ functions: [{ providers: {} }] });
});

test('CLI-04: call prints the result plainly, or as JSON', async () => {
  await using hub = await startHubWithWeather();
  const text = await run(['call', 'weather', 'get_forecast', '{"city":"Rome"}'], hub.env);
  expect(text).toEqual({ exitCode: 0, stdout: 'sunny in "Rome"\n', stderr: '' });
  const json = await run(['call', 'weather', 'get_forecast', '{"city":"Rome"}', '--json'], hub.env);
  expect(json.stdout).toBe('"sunny in \\"Rome\\""\n');
  const object = await run(['call', 'weather', 'echo', '{"a":[1]}'], hub.env);
  expect(object.stdout).toBe('{\n  "a": [\n    1\n  ]\n}\n');
});

test('call takes its arguments from standard input, and none at all', async () => {
  await using hub = await startHubWithWeather();
  const piped = await run(['call', 'weather', 'echo', '-', '--json'], hub.env, ' {"a":\n1} ');
  expect(piped).toMatchObject({ exitCode: 0, stdout: '{"a":1}\n' });
  expect((await run(['call', 'weather', 'echo', '--json'], hub.env)).stdout).toBe('{}\n');
  expect(await run(['call', 'weather', 'echo', '-'], hub.env, '{"a"')).toMatchObject({ exitCode: 2 });
});

test.each([
  [['weather', 'fail'], 'the station is down', 'function-failed', 'yes', false],
  [['weather', 'get_forecast'], 'arguments of get_forecast: ', 'invalid-arguments', 'no', false],
  [['nobody', 'f'], "no connected remote named 'nobody'", 'remote-not-connected', 'no', true],
] as const)('CLI-07: a failed call of %j is exit code 1', async (args, error, code, executed, retryable) => {
  await using hub = await startHubWithWeather();
  const human = await run(['call', ...args], hub.env);
  expect(human).toMatchObject({ exitCode: 1, stdout: '' });
  expect(human.stderr).toContain(`error: ${error}`);
  expect(human.stderr).toContain(`(${code}, executed: ${executed}`);
  const machine = await run(['call', ...args, '--json'], hub.env);
  expect(machine.exitCode).toBe(1);
  expect(JSON.parse(machine.stdout)).toMatchObject({
    code,
    executed,
    retryable,
  });
});

test('CLI-05: prompt streams the text of a run, and its tool calls beside it', async () => {
  await using hub = await startHubWithWeather();
  const { exitCode, stdout, stderr } = await run(
    ['prompt', '7', "What's the weather forecast in Rome?", '--remote', 'weather', '--remote', 'missing'],
    hub.env,
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/sunny in [^]*Rome[^]*\n$/);
  expect(stderr).toContain('calls get_forecast {"city":"Rome"}');
  expect(stderr).toContain("warning: no connected remote named 'missing'");
});

test.each([
  ['length', 'the answer stops at the token limit of the model\n'],
  ['content-filter', 'the answer was stopped by a filter of the provider\n'],
] as const)('CLI-05: prompt says why an answer stops early: %s', async (reason, stderr) => {
  const model: Model = {
    async *stream() {
      yield { type: 'text', text: 'Once' };
      yield { type: 'finish', reason };
    },
  };
  await using hub = await startHub({ agents }, { createModel: () => model });
  expect(await run(['prompt', '7', 'A story.'], hub.env)).toEqual({ exitCode: 0, stdout: 'Once\n', stderr });
});

test('CLI-05: prompt --json prints every event of the run as one line', async () => {
  await using hub = await startHubWithWeather();
  const { exitCode, stdout, stderr } = await run(
    ['prompt', '7', "What's the weather forecast in Rome?", '--remote', 'weather=w_', '--json'],
    hub.env,
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(events[0]).toMatchObject({ action: 'run-started', body: { agentId: 7 } });
  expect(stdout).toContain('"name":"w_get_forecast"');
  expect(events.at(-1)).toMatchObject({ action: 'run-finished', body: { status: 'completed' } });
});

test('CLI-09: prompt hands on the conversation and the context', async () => {
  const requests: ModelRequest[] = [];
  const createModel = (): Model => ({
    async *stream(request) {
      requests.push(request);
      yield { type: 'text', text: 'Yes.' };
      yield { type: 'finish', reason: 'stop' };
    },
  });
  await using hub = await startHub({ agents }, { createModel });
  const options = ['--conversation', 'c1', '--context', '{"page":1}'];
  expect(await run(['prompt', '7', 'First?', ...options], hub.env)).toMatchObject({ exitCode: 0 });
  expect(await run(['prompt', '7', 'Second?', '--conversation', 'c1'], hub.env)).toMatchObject({
    exitCode: 0,
    stdout: 'Yes.\n',
  });
  const said = JSON.stringify(requests[1]?.messages);
  for (const part of ['{\\"page\\":1}', 'First?', 'Yes.', 'Second?']) expect(said).toContain(part);
});

test('CLI-07: a context that is no JSON is wrong usage', async () => {
  const { exitCode, stderr } = await run(['prompt', '7', 'Hello', '--context', '{"a"'], {});
  expect(exitCode).toBe(2);
  expect(stderr).toContain('--context: not JSON, line 1, column 5');
});

test('CLI-07: an unknown agent is exit code 1', async () => {
  await using hub = await startHub();
  const { exitCode, stderr } = await run(['prompt', 'nobody', 'hello'], hub.env);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('agent-not-found');
});

test('CLI-07: a refused login is exit code 3', async () => {
  await using hub = await startHub();
  const refused = await run(['list', '--json'], { ...hub.env, REMOTES_HUB_TOKEN: 'wrong' });
  expect(refused.exitCode).toBe(3);
  expect(refused.stderr).toContain('invalid credentials (invalid-credentials)');
  expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'invalid-credentials' });
  const without = await run(['list'], { REMOTES_HUB_URL: hub.url });
  expect(without).toMatchObject({
    exitCode: 3,
    stderr: 'error: cannot log in: REMOTES_HUB_TOKEN is not set\n',
  });
});

test('what others wrote cannot steer a terminal', async () => {
  await using hub = await startHubWithWeather();
  const failed = await run(['call', 'weather', '\u001b[2J'], hub.env);
  expect(failed.stderr).toContain('\\x1b[2J');
  expect(failed.stderr).not.toContain('\u001b');
});
