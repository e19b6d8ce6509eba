import { onOneNode } from '../../support/hub.js';
import { runGetReplySchema, type RunEvent } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { finished, prompt, startHub, waitingStep } from './hub-run-fixtures.js';
import { says } from './run-fixtures.js';

test('RUN-18: a session that comes late gets what it missed and then the rest, without gaps', async () => {
  const waiting = waitingStep();
  await using stage = await startHub([waiting.step]);
  const early = await stage.hub.connect();
  const runId = await prompt(early);
  await early.event('run-text');
  const late = await stage.hub.connect();
  const reply = runGetReplySchema.parse(await late.request('run-get', { runId }));
  expect(reply).toMatchObject({ runId, firstSeq: 0, isFinished: false });
  waiting.go();
  await finished(late);
  const live = late.frames
    .map((frame) => JSON.parse(frame) as RunEvent)
    .filter(({ action }) => action?.startsWith('run-'));
  const seqs = [...reply.events, ...live.filter(({ action }) => action !== 'run-finished')].map(
    ({ body }) => body.seq,
  );
  expect([...new Set(seqs)]).toEqual([0, 1, 2]);

  const whole = runGetReplySchema.parse(await late.request('run-get', { runId }));
  expect(whole.isFinished).toBe(true);
  expect(whole.events.map(({ action }) => action)).toEqual([
    'run-started',
    'run-text',
    'run-text',
    'run-finished',
  ]);
  expect(JSON.stringify(whole.events[1])).toBe(early.frames.find((frame) => frame.includes('"one"')));
});

test('RUN-18: run-get of an unknown run, and of one of another user, is run-not-found', async () => {
  await using stage = await startHub([says('done')]);
  const session = await stage.hub.connect();
  const stranger = await stage.hub.connect({ user: 'u2' });
  const runId = await prompt(session);
  await finished(session);
  for (const [asker, id] of [
    [session, 'nope'],
    [stranger, runId],
  ] as const) {
    expect(await asker.request('run-get', { runId: id })).toMatchObject({
      code: 'run-not-found',
      error: `no run with id '${id}'`,
    });
  }
  expect(await session.request('run-get', {})).toMatchObject({ code: 'invalid-body' });
});

test('RUN-08: a run outlives the session that prompted it while the user has another', async () => {
  const waiting = waitingStep();
  await using stage = await startHub([waiting.step], { limits: { runGraceMs: 0 } });
  const other = await stage.hub.connect();
  const session = await stage.hub.connect();
  await prompt(session);
  await other.event('run-text');
  await session.close();
  await eventually(() => stage.hub.hub.counts().sessions === 1, 'the session has left');
  waiting.go();
  expect(await finished(other)).toMatchObject({ status: 'completed', output: 'onetwo' });
});

test('RUN-08: with the last session gone a run is cancelled after its grace', async () => {
  const waiting = waitingStep();
  await using stage = await startHub([waiting.step], { limits: { runGraceMs: 1 } });
  const session = await stage.hub.connect();
  const runId = await prompt(session);
  await session.event('run-text');
  await session.close();
  await stage.hub.idle();
  const back = await stage.hub.connect();
  const { events } = runGetReplySchema.parse(await back.request('run-get', { runId }));
  expect(events.at(-1)).toMatchObject({ action: 'run-finished', body: { status: 'cancelled' } });
});

test('RUN-08: a user who comes back in time finds the run going on', async () => {
  const waiting = waitingStep();
  await using stage = await startHub([waiting.step], { limits: { runGraceMs: 60_000 } });
  const session = await stage.hub.connect();
  const runId = await prompt(session);
  await session.event('run-text');
  await session.close();
  const back = await stage.hub.connect();
  expect(await back.request('run-get', { runId })).toMatchObject({ isFinished: false });
  waiting.go();
  expect(await finished(back)).toMatchObject({ runId, status: 'completed' });
});

// on two nodes: each keeps the conversations of its own runs
onOneNode('RUN-16: a conversation goes on over runs, from whichever session of the user', async () => {
  await using stage = await startHub([says('Blue.'), says('You asked about the sky.')]);
  const first = await stage.hub.connect();
  const second = await stage.hub.connect();
  await prompt(first, { conversationId: 'c' }, 'What colour is the sky?');
  await finished(second);
  await prompt(second, { conversationId: 'c', context: { page: 'p' } }, 'What did I ask?');
  await finished(second);
  expect(stage.model.requests[1]?.messages).toMatchObject([
    { role: 'user', text: 'What colour is the sky?' },
    { role: 'assistant', content: [{ type: 'text', text: 'Blue.' }] },
    { role: 'user', text: expect.stringContaining('{"page":"p"}') as string },
    { role: 'user', text: 'What did I ask?' },
  ]);
});

test('a hub that closes during the grace of a run ends at once', async () => {
  const stage = await startHub([waitingStep().step], { limits: { runGraceMs: 60_000 } });
  const session = await stage.hub.connect();
  await prompt(session);
  await session.event('run-text');
  await session.close();
  await eventually(() => stage.hub.hub.counts().sessions === 0, 'the session has left');
  await stage[Symbol.asyncDispose]();
  expect(stage.hub.hub.counts().runs).toBe(0);
});
