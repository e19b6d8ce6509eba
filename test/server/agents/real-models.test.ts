import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import {
  messageEnd,
  messageStart,
  textBlock,
  toolBlock,
} from '../../support/model-servers/anthropic-wire.js';
import { chunk, done, start, textStream, toolDelta } from '../../support/model-servers/openai-wire.js';
import {
  refuse,
  startModelServer,
  stream,
  type ModelServer,
} from '../../support/model-servers/scripted-server.js';
import { startTestHub, type TestHub } from '../../support/hub.js';

const KEY = 'a-key-that-nobody-may-see';

/** A hub whose agents run on one model server, by either wire. */
async function startHubAt({ url }: ModelServer): Promise<TestHub> {
  return startTestHub({
    agents: [
      {
        id: 'openai',
        name: 'O',
        model: { provider: 'openai-compatible', baseUrl: `${url}/v1`, model: 'm', apiKey: KEY },
      },
      { id: 'anthropic', name: 'A', model: { provider: 'anthropic', baseUrl: url, model: 'm', apiKey: KEY } },
    ],
  });
}

const forecast = {
  'get.forecast': {
    description: 'Retrieve weather forecast for a location.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    handler: ({ city }: { city?: unknown }) => ({ forecast: 'sunny', city }),
  },
};

/** What the last request told the model of its tools, whichever wire it came by. */
function toolNames(server: ModelServer): string[] {
  const tools = (server.requests[0]?.body['tools'] ?? []) as { name?: string; function?: { name: string } }[];
  return tools.map((tool) => tool.function?.name ?? tool.name ?? '');
}

const openAiCall = (name: string, args: string): string =>
  `${start}${toolDelta({ index: 0, id: 'c1', type: 'function', function: { name, arguments: args } })}${chunk({ finish: 'tool_calls' })}${done}`;
const anthropicCall = (name: string, args: string): string =>
  `${messageStart()}${toolBlock(0, 'c1', name, args)}${messageEnd('tool_use')}`;

// the name that `get.forecast` has at a provider: legal characters, and a hash of it
const PROVIDER_NAME = 'get_forecast_1049828c';

test.each([
  ['openai', openAiCall, textStream('Sunny in Rome.')],
  ['anthropic', anthropicCall, `${messageStart()}${textBlock(0, 'Sunny in Rome.')}${messageEnd('end_turn')}`],
] as const)(
  'K051: a run on %s calls a remote function by its mapped name, and events show the real one',
  async (agent, call, answer) => {
    await using server = await startModelServer([
      stream(call(PROVIDER_NAME, '{"city":"Rome"}')),
      stream(answer),
    ]);
    await using hub = await startHubAt(server);
    await using session = await connect(hub.url, { token: await hub.token() });
    await session.serve('weather', forecast);

    const run = await session.prompt(agent, "What's the weather in Rome?", { remotes: ['weather'] });
    const events = [];
    for await (const event of run) events.push(event);

    expect(toolNames(server)).toEqual([PROVIDER_NAME]);
    expect(events.map(({ action }) => action)).toEqual([
      'run-started',
      'run-tool-call',
      'run-tool-result',
      'run-text',
      'run-finished',
    ]);
    expect(events[1]?.body).toMatchObject({
      name: 'get.forecast',
      remotename: 'weather',
      function: 'get.forecast',
      args: { city: 'Rome' },
    });
    expect(events[2]?.body).toMatchObject({ content: '{"forecast":"sunny","city":"Rome"}', isError: false });
    expect(await run.result).toMatchObject({
      status: 'completed',
      output: 'Sunny in Rome.',
      usage: { steps: 2, toolCalls: 1 },
    });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('sunny');
  },
);

test('RUN-19: a property that Anthropic refuses has another name there, and its own at the function and in events', async () => {
  const sent = 'filter_id__665d001d';
  await using server = await startModelServer([
    stream(anthropicCall('find', `{"${sent}": 9007199254740993, "q": "a"}`)),
    stream(`${messageStart()}${textBlock(0, 'done')}${messageEnd('end_turn')}`),
  ]);
  await using hub = await startHubAt(server);
  await using serving = await hub.connect();
  const properties = { 'filter[id]': { type: 'integer' }, q: { type: 'string' } };
  const tools = [{ name: 'find', parameters: { properties, required: ['filter[id]'] } }];
  await serving.request('remote-connect', { remotename: 'x', tools });
  await using session = await connect(hub.url, { token: await hub.token() });
  const run = await session.prompt('anthropic', 'find', { remotes: ['x'] });

  const call = await serving.next('remote-call');
  expect(serving.frames.find((frame) => frame.includes('remote-call'))).toContain(
    '"args":{"filter[id]":9007199254740993,"q":"a"}',
  );
  serving.send({ action: 'remote-call-result', requestId: call['requestId'], result: 1 });

  expect(await run.result).toMatchObject({ status: 'completed', output: 'done' });
  expect(server.requests[0]?.body['tools']).toMatchObject([
    { input_schema: { properties: { [sent]: {} }, required: [sent] } },
  ]);
  expect(server.requests[1]?.body['messages']).toMatchObject([
    {},
    { content: [{ type: 'tool_use', input: { [sent]: 9007199254740992, q: 'a' } }] },
    {},
  ]);
});

test('K079: a tool runs once although the next request is refused until the attempts end, and the run fails in plain words', async () => {
  let ran = 0;
  await using server = await startModelServer([
    stream(openAiCall('work', '{}')),
    refuse(429, { error: { message: `slow down ${KEY}` } }, { 'retry-after-ms': '5' }),
  ]);
  await using hub = await startHubAt(server);
  await using session = await connect(hub.url, { token: await hub.token() });
  await session.serve('x', { work: { handler: () => (ran += 1) } });

  const run = await session.prompt('openai', 'work', { remotes: ['x'] });
  const result = await run.result;

  expect(ran).toBe(1);
  expect(result).toMatchObject({
    status: 'failed',
    error: 'the model provider openai-compatible has received too many requests (429)',
  });
  expect(server.requests).toHaveLength(5);
  expect(JSON.stringify(hub.logs)).not.toContain(KEY);
});

test('K064: arguments that are no JSON give an error result, and what goes back to the provider is JSON', async () => {
  await using server = await startModelServer([
    stream(openAiCall('work', '{"city":"Ro')),
    stream(textStream('sorry')),
  ]);
  await using hub = await startHubAt(server);
  await using session = await connect(hub.url, { token: await hub.token() });
  await session.serve('x', { work: { handler: () => 'never' } });

  const run = await session.prompt('openai', 'work', { remotes: ['x'] });

  expect(await run.result).toMatchObject({ status: 'completed', output: 'sorry' });
  expect(server.requests[1]?.body['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ function: { name: 'work', arguments: '{}' } }] },
    {
      role: 'tool',
      tool_call_id: 'c1',
      content: expect.stringContaining('error: the arguments were cut off') as unknown,
    },
  ]);
});

test('500 functions: the model gets 128 tools, finds the others by list_functions and calls one by call_function', async () => {
  const functions = Object.fromEntries(
    Array.from({ length: 500 }, (_, n) => [
      `f${n}`,
      { description: `number ${n}`, handler: () => `result of f${n}` },
    ]),
  );
  await using server = await startModelServer([
    stream(openAiCall('list_functions', '{"query":"number 499"}')),
    stream(openAiCall('call_function', '{"name":"f499","arguments":{}}')),
    stream(textStream('done')),
  ]);
  await using hub = await startHubAt(server);
  await using session = await connect(hub.url, { token: await hub.token() });
  await session.serve('many', functions);

  const run = await session.prompt('openai', 'use f499', { remotes: ['many'] });
  const called: unknown[] = [];
  for await (const event of run)
    if (event.action === 'run-tool-result') called.push([event.body.name, event.body.content]);

  expect(toolNames(server)).toHaveLength(128);
  expect(called).toMatchObject([
    ['list_functions', expect.stringContaining('"name":"f499"') as unknown],
    ['f499', '"result of f499"'],
  ]);
  expect(await run.result).toMatchObject({ status: 'completed', output: 'done' });
});
