import { connect } from '@remotes-hub/client';
import { hashPassword } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { createLogger } from '../../../server/src/observability/logger.js';
import { startTestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';
import { agents, finished, prompt } from '../agents/hub-run-fixtures.js';
import { calling, says, ScriptedModel, stop } from '../agents/run-fixtures.js';

const secrets = {
  password: 'p4ssword-of-ada',
  wrongPassword: 'wr0ng-password',
  wrongToken: 'wr0ng.token.x',
  instanceId: '1nstance-of-ada-0123456789',
  args: '4rguments',
  result: 'r3sult',
  progress: 'pr0gress',
  error: 'f4ilure-text',
  instruction: '1nstruction',
  metrics: 'm3trics-token-0123456789',
};

/** A hub at a level, with its lines as text. */
async function startLogged(level: string) {
  const lines: string[] = [];
  const log = createLogger(level, { write: (line) => void lines.push(line) });
  const users = [{ username: 'ada', passwordHash: await hashPassword(secrets.password) }];
  const model = new ScriptedModel([[calling('fine', JSON.stringify({ a: secrets.args })), stop], says('ok')]);
  const hub = await startTestHub(
    { agents, auth: { users }, metrics: { token: secrets.metrics } },
    { log, createModel: () => model },
  );
  const parsed = (): Record<string, unknown>[] =>
    lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { hub, lines, parsed, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

type LoggedHub = Awaited<ReturnType<typeof startLogged>>;

/** Everything that a hub does in a day, good and bad. */
async function keepBusy({ hub }: LoggedHub): Promise<void> {
  const { instanceId, password, args, result } = secrets;
  await using ada = await connect(hub.url, { username: 'ada', password, instanceId });
  await ada.serve('x', {
    fine: {
      handler: (_args, context) => {
        context.progress(secrets.progress);
        return result;
      },
    },
    broken: {
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
      handler: () => Promise.reject(new Error(secrets.error)),
    },
  });
  await ada.call('x', 'fine', { a: args }, { onProgress: () => undefined });
  await ada.call('x', 'broken', { a: args }).catch(() => undefined);
  await ada.call('x', 'broken', { a: [args] }).catch(() => undefined);
  await ada.call('x', 'nothing', { a: args }).catch(() => undefined);
  await ada.call('x', 'fine', { a: args }, { signal: AbortSignal.abort() }).catch(() => undefined);
  await connect(hub.url, { username: 'ada', password: secrets.wrongPassword }).catch(() => undefined);
  await connect(hub.url, { token: secrets.wrongToken }).catch(() => undefined);
  const headers = { authorization: `Bearer ${secrets.wrongToken}`, 'remotes-instance-id': instanceId };
  await TestSession.open(hub.socketUrl, [], { headers }).catch(() => undefined);
  await fetch(`${hub.url}/metrics`, { headers: { authorization: `Bearer ${secrets.metrics}` } });
  const session = await hub.connect({ user: 'ada', instanceId });
  await session.request('remote-call', { args, token: secrets.wrongToken });
  session.send(`{"action":"remote-call-result","requestId":"x#0","result":"${result}"`);
  await session.request('authenticate', { token: secrets.wrongToken });
  await prompt(session, { remotes: ['x'], context: { args } }, secrets.instruction);
  await finished(session);
}

test.each(['trace', 'debug', 'info'])(
  'OBS-03: a busy hub at level %s logs no secret, no argument and no result',
  async (level) => {
    await using stage = await startLogged(level);
    const token = await stage.hub.token('ada');
    await using byToken = await connect(stage.hub.url, { token });
    await keepBusy(stage);
    await byToken.close();
    await stage.hub.hub.close();

    const all = stage.lines.join('');
    expect(stage.lines.length).toBeGreaterThan(8);
    for (const [what, secret] of Object.entries({ ...secrets, token })) {
      expect([what, all.includes(secret)]).toEqual([what, false]);
    }
  },
);

test('OBS-04: at the level info no call has a line, sessions do, and each line says whose it is', async () => {
  await using stage = await startLogged('info');
  await keepBusy(stage);
  await stage.hub.hub.close();

  const lines = stage.parsed();
  expect(lines.filter(({ msg }) => String(msg).startsWith('call'))).toEqual([]);
  const ofSessions = lines.filter(({ msg }) => msg === 'session opened' || msg === 'session closed');
  expect(ofSessions.length).toBeGreaterThan(2);
  for (const line of ofSessions)
    expect(line).toMatchObject({ userId: 'ada', sessionId: expect.any(String) as string });
  expect(lines.find(({ msg }) => msg === 'run finished')).toMatchObject({
    userId: 'ada',
    runId: expect.any(String) as string,
    status: 'completed',
  });
});

test('OBS-04: at the level debug each call has one line, with how it ended', async () => {
  await using stage = await startLogged('debug');
  await using session = await connect(stage.hub.url, { token: await stage.hub.token('ada') });
  await session.serve('x', {
    f: { handler: () => 1, result: { type: 'integer' } },
    g: { handler: () => Promise.reject(new Error('no')) },
  });
  await session.call('x', 'f');
  await session.call('x', 'g').catch(() => undefined);
  await session.call('x', 'h').catch(() => undefined);

  const common = { level: 20, userId: 'ada', remotename: 'x' };
  const durationMs = expect.any(Number) as number;
  expect(stage.parsed().filter(({ msg }) => String(msg).startsWith('call'))).toMatchObject([
    { ...common, msg: 'call ended', function: 'f', requestId: 'x#0', outcome: 'result', durationMs },
    { ...common, msg: 'call ended', function: 'g', requestId: 'x#1', outcome: 'function-failed', durationMs },
    { ...common, msg: 'call refused', function: 'h', outcome: 'function-not-found' },
  ]);
});

test('OBS-04: what happens to a connection is logged with its session', async () => {
  await using stage = await startLogged('info');
  const session = await stage.hub.connect({ user: 'ada' });
  session.send(`"${'x'.repeat(5 * 1024 * 1024)}"`);
  await session.end();
  expect(stage.parsed().find(({ msg }) => msg === 'connection failed')).toMatchObject({
    userId: 'ada',
    sessionId: expect.any(String) as string,
    code: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
  });
});
