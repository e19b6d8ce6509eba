import { expect, test } from 'vitest';
import { ModelError } from '../../../server/src/agents/models/model.js';
import { calling, says, stop, testRuns, type Step } from './run-fixtures.js';

const throwing = (error: Error): Step =>
  async function* () {
    yield { type: 'text', text: 'I was sa' };
    throw error;
  };

test('a model that throws fails the run with a text that tells nothing, and the log tells all', async () => {
  await using stage = testRuns({ steps: [throwing(new Error('401 for key sk-123'))] });
  expect(await stage.finish()).toMatchObject({
    status: 'failed',
    output: 'I was sa',
    error: 'the model failed',
    usage: { steps: 1, toolCalls: 0 },
  });
  expect(stage.logged.find(({ msg }) => msg === 'run failed')).toMatchObject({
    err: { message: '401 for key sk-123' },
    userId: 'ada',
  });
});

test('a model may say what people shall read', async () => {
  await using stage = testRuns({ steps: [throwing(new ModelError('the model is overloaded'))] });
  expect(await stage.finish()).toMatchObject({ status: 'failed', error: 'the model is overloaded' });
});

test('a model that cannot be made, or whose stream throws at once, fails the run', async () => {
  const broken = () => {
    throw new Error('no key');
  };
  for (const createModel of [broken, () => ({ stream: broken })]) {
    await using stage = testRuns({ createModel });
    expect(await stage.finish()).toMatchObject({ status: 'failed', error: 'the model failed', output: '' });
  }
});

test('an answer that ends without its finish was cut off, and its calls are not made', async () => {
  await using stage = testRuns({ steps: [[{ type: 'text', text: 'half' }, calling('current_time')]] });
  expect(await stage.finish()).toMatchObject({
    status: 'failed',
    error: 'the answer of the model was cut off',
    output: 'half',
  });
  expect(stage.events.all('run-tool-call')).toEqual([]);
});

test('the output is the text of the last step that said something', async () => {
  await using stage = testRuns({
    steps: [[{ type: 'text', text: 'first' }, calling('current_time'), stop], [stop]],
  });
  expect(await stage.finish()).toMatchObject({ status: 'completed', output: 'first' });
});

test('a model is told to tidy up when its step is over, and one that hangs there holds up nothing', async () => {
  let isReleased = false;
  const hanging: Step = async function* () {
    try {
      yield stop;
    } finally {
      isReleased = true;
      await new Promise(() => {});
    }
  };
  await using stage = testRuns({ steps: [hanging] });
  expect(await stage.finish()).toMatchObject({ status: 'completed' });
  expect(isReleased).toBe(true);
});

test('events that cannot be sent end the run and free its place', async () => {
  await using stage = testRuns({ steps: [says('x')] });
  const failure = new Promise<void>((resolve) => {
    stage.events.broadcast = () => {
      if (stage.runs.size === 1) setImmediate(resolve);
      throw new Error('no way');
    };
  });
  stage.runs.start({ userId: 'ada', agentId: 7, instruction: 'x' });
  await failure;
  await stage.runs.close();
  expect(stage.runs.size).toBe(0);
  expect(stage.logged.some(({ msg }) => msg === 'run events failed')).toBe(true);
});
