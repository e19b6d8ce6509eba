import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { startTestHub } from '../../../support/hub.js';
import { anthropicFaults } from '../../../support/model-servers/anthropic-rules.js';
import { startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { wires } from './wires.js';

type Model = ReturnType<(typeof wires)[number]['config']>;

/** Prompts one conversation, each time with another agent, and gives the messages of every request. */
async function converse(
  server: Awaited<ReturnType<typeof startModelServer>>,
  models: readonly [Model, ...Model[]],
): Promise<string[]> {
  const agents = models.map((model, id) => ({ id, name: 'A', model }));
  await using hub = await startTestHub({ agents });
  await using session = await connect(hub.url, { token: await hub.token() });
  await session.serve('x', { f: { handler: () => 1 } });
  for (const { id } of agents) {
    const run = await session.prompt(id, `prompt ${id}`, { remotes: ['x'], conversationId: 'c' });
    expect(await run.result).toMatchObject({ status: 'completed' });
  }
  const [{ provider }] = models;
  if (provider === 'anthropic')
    expect(server.requests.flatMap(({ body }) => anthropicFaults(body))).toEqual([]);
  return server.requests.map(({ body }) => JSON.stringify(body['messages']));
}

test.each(wires)(
  'K077: $provider: the reasoning of a turn with calls goes back in every later request, as DeepSeek demands',
  async ({ config, call, text }) => {
    await using server = await startModelServer([
      stream(call('f', '{}', 'a thought')),
      stream(text('one')),
      stream(text('two')),
      stream(text('three')),
    ]);
    const model = config(server, 10_000);

    const requests = await converse(server, [model, model, model]);

    expect(requests.map((messages) => messages.includes('a thought'))).toEqual([false, true, true, true]);
  },
);

test.each(wires)(
  'K077: $provider: what one model wants back is never sent to another model or place',
  async ({ config, call, text }) => {
    await using server = await startModelServer([
      stream(call('f', '{}', 'a thought')),
      ...['one', 'two', 'three', 'four'].map((said) => stream(text(said))),
    ]);
    const model = config(server, 10_000);
    const elsewhere = { ...model, baseUrl: `${model.baseUrl}/other` };

    const requests = await converse(server, [model, { ...model, model: 'm2' }, elsewhere, model]);

    expect(requests.map((messages) => messages.includes('a thought'))).toEqual([
      false,
      true,
      false,
      false,
      true,
    ]);
    expect(requests[3]).toContain('prompt 0'); // all else of the conversation goes on
  },
);
