import { connect, type RunEvent } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import type { Model } from '../../server/src/agents/models/model.js';
import { startTestHub } from '../support/hub.js';
import { LoggedIn } from './scripted-hub.js';

const usage = { steps: 1, toolCalls: 0 };
const text = (seq: number, runId = 'r1') => ({
  action: 'run-text',
  body: { runId, seq, text: `${seq}` },
});
const finished = (seq: number) => ({
  action: 'run-finished',
  body: { runId: 'r1', seq, status: 'completed', output: 'sunny', usage },
});
const replay = (events: readonly unknown[], isFinished = false) => ({
  runId: 'r1',
  firstSeq: 0,
  isFinished,
  events,
});

async function seqs(run: AsyncIterable<RunEvent>): Promise<number[]> {
  const seen: number[] = [];
  for await (const { body } of run) seen.push(body.seq);
  return seen;
}

test('SDK-08: a run that is joined late gives its events so far, then those to come, each once', async () => {
  await using session = await LoggedIn.start();
  const joining = session.client.run('r1');
  const request = await session.hub.next();
  expect(request).toMatchObject({ action: 'run-get', body: { runId: 'r1' } });
  session.hub.send(text(2)); // before the reply, and in it
  session.hub.send(text(3)); // before the reply, and not in it
  session.hub.send({ ...replay([text(0), text(1), text(2)]), nonce: request['nonce'] });
  session.hub.send(text(2)); // after the reply, and in it
  session.hub.send(text(4));
  session.hub.send(text(5, 'r2'));
  session.hub.send(finished(5));

  const run = await joining;
  expect(await seqs(run)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await run.result).toEqual({ status: 'completed', output: 'sunny', usage });
});

test('SDK-08: a run that has ended is told from the reply alone', async () => {
  await using session = await LoggedIn.start();
  const joining = session.client.run('r1');
  await session.hub.answer(replay([text(7), finished(8)], true));

  const run = await joining;
  expect(await run.result).toMatchObject({ output: 'sunny' });
  await run.cancel();
  expect(await seqs(run)).toEqual([7, 8]);
  expect(session.hub.untaken).toEqual([]);
});

test('SDK-08: who prompted a run may join it as well, and both get everything', async () => {
  await using session = await LoggedIn.start();
  const prompting = session.client.prompt(7, 'Weather?');
  await session.hub.answer({ message: 'prompt accepted', runId: 'r1' });
  const prompted = await prompting;
  session.hub.send(text(0));
  const joining = session.client.run('r1');
  await session.hub.answer(replay([text(0)]));
  const joined = await joining;
  session.hub.send(finished(1));

  expect(await seqs(prompted)).toEqual([0, 1]);
  expect(await seqs(joined)).toEqual([0, 1]);
});

test('SDK-08: an unknown run rejects, and nothing of it is followed', async () => {
  await using session = await LoggedIn.start();
  const joining = session.client.run('r1');
  joining.catch(() => undefined);
  await session.hub.answer({ error: "no run with id 'r1'", code: 'run-not-found' });
  await expect(joining).rejects.toMatchObject({ name: 'HubError', code: 'run-not-found' });
  session.hub.send(finished(0));
  await session.settled();
});

test('SDK-08: events that this client does not know are left out of what is told', async () => {
  await using session = await LoggedIn.start();
  const joining = session.client.run('r1');
  const odd = [
    { action: 'run-thought', body: { runId: 'r1', seq: 0 } },
    { action: 'run-text' },
    null,
    text(1),
  ];
  await session.hub.answer(replay([...odd, finished(2)], true));
  expect(await seqs(await joining)).toEqual([1, 2]);
});

test('a reply to run-get without events is not understood', async () => {
  await using session = await LoggedIn.start();
  const joining = session.client.run('r1');
  joining.catch(() => undefined);
  await session.hub.answer({ runId: 'r1' });
  await expect(joining).rejects.toMatchObject({ code: 'internal-error' });
});

test('a lost connection ends a run that was joined', async () => {
  await using session = await LoggedIn.start();
  const joining = session.client.run('r1');
  await session.hub.answer(replay([text(0)]));
  const run = await joining;
  session.hub.socket.terminate();
  await expect(run.result).rejects.toMatchObject({ code: 'connection-lost' });
  await expect(seqs(run)).rejects.toMatchObject({ code: 'connection-lost' });
});

test.each(['', 'x'.repeat(129), 5])('%j is no id of a run', async (runId) => {
  await using session = await LoggedIn.start();
  await expect(session.client.run(runId as string)).rejects.toThrow(/^runId: /u);
});

test('SDK-08: at a real hub a second session joins in the middle of a run, and both see all of it', async () => {
  let goOn = (): void => undefined;
  const gone = new Promise<void>((resolve) => (goOn = resolve));
  const model: Model = {
    async *stream() {
      for (let index = 0; index < 50; index += 1) yield { type: 'text', text: `${index} ` };
      await gone;
      for (let index = 50; index < 100; index += 1) yield { type: 'text', text: `${index} ` };
      yield { type: 'finish', reason: 'stop' };
    },
  };
  const agents = [{ id: 7, name: 'Helper', model: { provider: 'offline' } } as const];
  await using hub = await startTestHub({ agents }, { createModel: () => model });
  const token = await hub.token();
  await using first = await connect(hub.socketUrl, { token });
  await using second = await connect(hub.socketUrl, { token });
  const prompted = await first.prompt(7, 'Count.');
  const joining = second.run(prompted.runId);
  goOn();
  const joined = await joining;
  const all = Array.from({ length: 102 }, (_, seq) => seq);
  expect(await seqs(prompted)).toEqual(all);
  expect(await seqs(joined)).toEqual(all);
  expect(await joined.result).toEqual(await prompted.result);
});
