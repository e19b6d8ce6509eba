import { expect, test } from 'vitest';
import type { RunEvent } from '@remotes-hub/client';
import { LoggedIn } from './scripted-hub.js';

const usage = { steps: 1, toolCalls: 0 };
const started = { agentId: 7, tools: [], warnings: [] };
const finished = { status: 'completed', output: 'sunny', usage };

/** Prompts agent 7 and answers with run `r1`. */
async function prompt(session: LoggedIn) {
  const prompting = session.client.prompt(7, 'Weather?', { remotes: ['weather'], maxSteps: 3, mood: 'kind' });
  const request = await session.hub.answer({ message: 'prompt accepted', runId: 'r1' });
  const emit = (action: string, seq: number, body: object, runId = 'r1'): void =>
    session.hub.send({ action, body: { runId, seq, ...body } });
  return { run: await prompting, request, emit };
}

async function collect(run: AsyncIterable<RunEvent>): Promise<string[]> {
  const actions: string[] = [];
  for await (const { action } of run) actions.push(action);
  return actions;
}

test('prompt sends its options; the run iterates its own events in order and gives its result', async () => {
  await using session = await LoggedIn.start();
  const { run, request, emit } = await prompt(session);
  emit('run-started', 0, started);
  emit('run-text', 0, { text: 'other' }, 'r2');
  emit('run-text', 1, { text: 'sunny' });
  const collecting = collect(run);
  emit('run-finished', 2, finished);
  emit('run-text', 3, { text: 'too late' });

  expect(await collecting).toEqual(['run-started', 'run-text', 'run-finished']);
  expect(await run.result).toEqual(finished);
  expect(run.runId).toBe('r1');
  expect(request['body']).toEqual({
    agentId: 7,
    instruction: 'Weather?',
    options: { remotes: ['weather'], maxSteps: 3, mood: 'kind' },
  });
});

test('events that come with the reply to the prompt are not lost', async () => {
  await using session = await LoggedIn.start();
  const prompting = session.client.prompt('ada', 'Hello');
  const { nonce } = await session.hub.next();
  session.hub.send({ message: 'prompt accepted', runId: 'r1', nonce });
  session.hub.send({ action: 'run-started', body: { runId: 'r1', seq: 0, ...started } });
  session.hub.send({ action: 'run-finished', body: { runId: 'r1', seq: 1, ...finished } });

  expect(await collect(await prompting)).toEqual(['run-started', 'run-finished']);
});

test('a run that fails has a result that says so, and is no rejection', async () => {
  await using session = await LoggedIn.start();
  const { run, emit } = await prompt(session);
  emit('run-finished', 0, { status: 'failed', output: '', usage, error: 'the model is gone' });

  expect(await run.result).toEqual({ status: 'failed', output: '', usage, error: 'the model is gone' });
});

test('SDK-07: a run that reached a limit tells its code and what it used', async () => {
  await using session = await LoggedIn.start();
  const { run, emit } = await prompt(session);
  const used = { steps: 3, toolCalls: 2, inputTokens: 10, outputTokens: 4 };
  emit('run-finished', 0, {
    status: 'failed',
    output: '',
    usage: used,
    code: 'time-limit',
    error: 'too late',
  });

  expect(await run.result).toEqual({
    status: 'failed',
    output: '',
    usage: used,
    code: 'time-limit',
    error: 'too late',
  });
});

test('SDK-07: a prompt can be iterated and cancelled before it is accepted', async () => {
  await using session = await LoggedIn.start();
  const prompted = session.client.prompt(7, 'Hello');
  const collecting = collect(prompted);
  const cancelling = prompted.cancel();
  await session.hub.answer({ message: 'prompt accepted', runId: 'r1' });
  expect(await session.hub.answer({ message: 'run cancelled', runId: 'r1' })).toMatchObject({
    action: 'run-cancel',
    body: { runId: 'r1' },
  });
  await cancelling;
  session.hub.send({ action: 'run-started', body: { runId: 'r1', seq: 0, ...started } });
  session.hub.send({
    action: 'run-finished',
    body: { runId: 'r1', seq: 1, ...finished, status: 'cancelled', code: 'cancelled' },
  });

  expect(await collecting).toEqual(['run-started', 'run-finished']);
  expect(await prompted.result).toMatchObject({ status: 'cancelled', code: 'cancelled' });
});

test('SDK-07: a refused prompt rejects its iteration, its result and its cancel', async () => {
  await using session = await LoggedIn.start();
  const prompted = session.client.prompt(9, 'Hello');
  const collecting = collect(prompted);
  const cancelling = prompted.cancel();
  cancelling.catch(() => undefined);
  collecting.catch(() => undefined);
  await session.hub.answer({ error: 'there is no agent 9', code: 'agent-not-found' });

  for (const ending of [prompted, collecting, prompted.result, cancelling]) {
    await expect(ending).rejects.toMatchObject({ name: 'HubError', code: 'agent-not-found' });
  }
});

test('an unknown agent rejects the prompt', async () => {
  await using session = await LoggedIn.start();
  const prompting = session.client.prompt(9, 'Hello');
  prompting.catch(() => undefined);
  await session.hub.answer({ error: 'there is no agent 9', code: 'agent-not-found' });

  await expect(prompting).rejects.toMatchObject({ name: 'HubError', code: 'agent-not-found' });
});

test('cancel asks the hub; of a run that has ended it asks nothing, or hears that it has', async () => {
  await using session = await LoggedIn.start();
  const { run, emit } = await prompt(session);
  const cancelling = run.cancel();
  expect(await session.hub.answer({ message: 'run cancelled', runId: 'r1' })).toMatchObject({
    action: 'run-cancel',
    body: { runId: 'r1' },
  });
  await cancelling;
  const again = run.cancel();
  await session.hub.answer({ error: "no run 'r1'", code: 'run-not-found' });
  await again;
  emit('run-finished', 0, { ...finished, status: 'cancelled' });
  expect(await run.result).toMatchObject({ status: 'cancelled' });
  await run.cancel();
  await session.settled();
  expect(session.hub.untaken).toEqual([]);
});

test('a lost connection ends the iteration and the result with connection-lost', async () => {
  await using session = await LoggedIn.start();
  const { run, emit } = await prompt(session);
  emit('run-text', 0, { text: 'su' });
  const collecting = collect(run);
  collecting.catch(() => undefined);
  await session.settled();
  session.hub.socket.terminate();

  await expect(collecting).rejects.toMatchObject({ name: 'HubError', code: 'connection-lost' });
  await expect(run.result).rejects.toMatchObject({ name: 'HubError', code: 'connection-lost' });
});

test('a run is iterated once, and may be left early', async () => {
  await using session = await LoggedIn.start();
  const { run, emit } = await prompt(session);
  emit('run-text', 0, { text: 'su' });
  for await (const event of run) {
    expect(event.action).toBe('run-text');
    break;
  }
  await expect(collect(run)).rejects.toThrow(new TypeError('the events of a run can be iterated once'));
  emit('run-finished', 1, finished);

  expect(await run.result).toMatchObject({ output: 'sunny' });
});

test('events that nobody reads are bounded, and the result is not touched', async () => {
  await using session = await LoggedIn.start();
  const { run, emit } = await prompt(session);
  for (let seq = 0; seq <= 10_000; seq += 1) emit('run-text', seq, { text: '.' });
  emit('run-finished', 10_001, finished);

  expect(await run.result).toMatchObject({ output: 'sunny' });
  await expect(collect(run)).rejects.toThrow(
    new RangeError("more than 10000 events of run 'r1' were left unread"),
  );
});
