import { expect, test } from 'vitest';
import { runnableBlock, runnableBlocks, runProgram } from '../support/documentation.js';
import { startTestHub, type TestHub } from '../support/hub.js';

const page = 'client-sdk/README.md';

/** The examples that run in a page: test/browser. */
const inPages = ['browser', 'model-context', 'react'];

/** What each other example prints. */
const printed: Record<string, string> = {
  node: "{ city: 'Rome', forecast: 'sunny' }\n",
  zod: '{ second: 1, of: 2 }\n{ second: 2, of: 2 }\ndone\n',
  types: 'sunny in Rome for 3 days\n',
  traces: 'sunny in Rome\n',
  errors: 'remote-not-connected no true\n',
  prompt: `calls get_forecast { city: 'Rome' }
I am not a language model; I only match words.

get_forecast answered: {"forecast":"sunny","city":"Rome"}`,
  'prompt-at-once': 'completed\n',
  reconnect: 'true\n',
};

async function startExampleHub(): Promise<TestHub> {
  const hub = await startTestHub({
    agents: [{ id: 'assistant', name: 'Offline assistant', model: { provider: 'offline' }, tools: [] }],
  });
  hub.hub.connectRemote({
    userId: 'prompt',
    remotename: 'weather',
    functions: [
      {
        name: 'get_forecast',
        description: 'Retrieve weather forecast for a location.',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        handler: ({ city }) => ({ forecast: 'sunny', city }),
      },
    ],
  });
  return hub;
}

test('DOC-01: every example of the client README is run', () => {
  expect([...runnableBlocks(page).keys()].toSorted()).toEqual(
    [...Object.keys(printed), ...inPages].toSorted(),
  );
});

test.each(Object.keys(printed))('DOC-01: the example "%s" of the client README runs', async (name) => {
  await using hub = await startExampleHub();

  const { code, stdout, stderr } = await runProgram(runnableBlock(page, name), {
    REMOTES_HUB_URL: hub.url,
    REMOTES_HUB_TOKEN: await hub.token(name),
  });

  expect(stdout).toContain(printed[name]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
