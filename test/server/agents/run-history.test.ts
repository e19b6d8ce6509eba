import { expect, test } from 'vitest';
import {
  ENDED_RUN_TTL_MS,
  MAX_ENDED_RUNS_PER_USER,
  MAX_RUN_EVENT_BYTES,
  MAX_RUN_EVENTS,
  RunHistory,
} from '../../../server/src/agents/run-history.js';
import { JsonText } from '../../../server/src/json/json-text.js';
import { says, testRuns } from './run-fixtures.js';

const body = (seq: number, text = '') => new JsonText(`{"seq":${seq},"text":${JSON.stringify(text)}}`);

function expectNotFound(history: RunHistory, userId: string, runId: string): void {
  expect(() => history.get(userId, runId)).toThrow(
    expect.objectContaining({ code: 'run-not-found', message: `no run with id '${runId}'` }),
  );
}

test('RUN-18: a run is replayed as it was sent, while it goes on and after its end', async () => {
  await using stage = testRuns({ steps: [says('It is 1.0')] });
  await stage.finish();
  const runId = stage.events.events[0]?.event.body.runId ?? '';
  const replay = stage.runs.replay('ada', runId);
  expect(replay).toMatchObject({ runId, firstSeq: 0, isFinished: true });
  const sent = stage.events.events.map(({ event, text }) => `{"action":"${event.action}","body":${text}}`);
  expect(replay.events.text).toBe(`[${sent.join(',')}]`);
});

test('RUN-18: a run under way is not finished, and nobody else gets it', () => {
  const history = new RunHistory();
  const record = history.begin('ada', 'r1');
  expect(history.get('ada', 'r1')).toMatchObject({ firstSeq: 0, isFinished: false, events: { text: '[]' } });
  record.add('run-text', body(0));
  expect(history.get('ada', 'r1').events.parse()).toEqual([
    { action: 'run-text', body: { seq: 0, text: '' } },
  ]);
  expectNotFound(history, 'eve', 'r1');
  history.end(record);
  expectNotFound(history, 'eve', 'r1');
  expectNotFound(history, 'ada', '__proto__');
});

test('RUN-18: the oldest events of a long run go, and firstSeq says so', () => {
  const history = new RunHistory();
  const many = history.begin('ada', 'many');
  for (let seq = 0; seq < MAX_RUN_EVENTS + 5; seq += 1) many.add('run-text', body(seq));
  expect(history.get('ada', 'many').firstSeq).toBe(5);
  expect(history.get('ada', 'many').events.text).toMatch(/^\[\{"action":"run-text","body":\{"seq":5,/u);

  const large = history.begin('ada', 'large');
  for (let seq = 0; seq < 5; seq += 1) large.add('run-text', body(seq, 'é'.repeat(MAX_RUN_EVENT_BYTES / 8)));
  expect(history.get('ada', 'large').firstSeq).toBe(2);
  expect(Buffer.byteLength(history.get('ada', 'large').events.text)).toBeLessThan(MAX_RUN_EVENT_BYTES);
});

test('RUN-18: the last event is kept whatever its size', () => {
  const history = new RunHistory();
  const record = history.begin('ada', 'r1');
  record.add('run-text', body(0));
  record.add('run-finished', body(1, 'x'.repeat(2 * MAX_RUN_EVENT_BYTES)));
  expect(history.get('ada', 'r1').firstSeq).toBe(1);
  record.add('run-text', body(2));
  expect(history.get('ada', 'r1').firstSeq).toBe(2);
});

test('RUN-18: an ended run is forgotten after a while, one under way never', () => {
  let now = 0;
  const history = new RunHistory(() => now);
  history.begin('ada', 'long');
  history.end(history.begin('ada', 'r1'));
  now = ENDED_RUN_TTL_MS - 1;
  expect(history.get('ada', 'r1').isFinished).toBe(true);
  now = ENDED_RUN_TTL_MS;
  expectNotFound(history, 'ada', 'r1');
  expect(history.get('ada', 'long').isFinished).toBe(false);
  expect(history.size).toBe(1);
});

test('RUN-18: of one user the runs that ended last are kept, and others keep theirs', () => {
  const history = new RunHistory(() => 0);
  history.end(history.begin('eve', 'of eve'));
  for (let index = 0; index <= MAX_ENDED_RUNS_PER_USER; index += 1) {
    history.end(history.begin('ada', `r${index}`));
  }
  expectNotFound(history, 'ada', 'r0');
  expect(history.get('ada', 'r1').isFinished).toBe(true);
  expect(history.get('eve', 'of eve').isFinished).toBe(true);
  expect(history.size).toBe(MAX_ENDED_RUNS_PER_USER + 1);
});

test('ended runs of all users together are bounded, the oldest go first', () => {
  const history = new RunHistory(() => 0);
  for (let index = 0; index < 150; index += 1) {
    const record = history.begin(`user ${index}`, `r${index}`);
    record.add('run-text', body(0, 'x'.repeat(MAX_RUN_EVENT_BYTES)));
    history.end(record);
  }
  expectNotFound(history, 'user 0', 'r0');
  expect(history.get('user 149', 'r149').isFinished).toBe(true);
  expect(history.size).toBeLessThan(128);
  history.clear();
  expect(history.size).toBe(0);
});
