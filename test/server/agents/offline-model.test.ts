import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../server/src/agents/models/model.js';
import { JsonText } from '../../../server/src/json/json-text.js';
import { answer, callsFor, text, textFor, tool, tools } from './offline-fixtures.js';

// RUN-11
test('a tool that no word of the instruction names is not called, whatever the instruction', async () => {
  for (const instruction of [
    'Hello!',
    'Use your tools.',
    '???',
    '',
    '"Rome"',
    'in in in for for',
    'Get it for me',
  ]) {
    expect(await callsFor(instruction)).toEqual([]);
  }
});

test('the same instruction and tools give the same calls', async () => {
  const instruction = "What's the weather in Rome, and what time is it? Add 1 and 2.";
  expect(await callsFor(instruction)).toEqual(await callsFor(instruction));
  expect(await callsFor(instruction)).toHaveLength(3);
});

test('one tool is called twice when two parts of the instruction ask for it with different arguments', async () => {
  expect(await callsFor('Weather in Rome? And the weather in Oslo? The weather in Rome!')).toEqual([
    'get_forecast {"city":"Rome"}',
    'get_forecast {"city":"Oslo"}',
  ]);
});

test('of two tools the one that the instruction names more fully is called, and the first of equals', async () => {
  const offered = [
    tool('create_issue_comment', '', {}),
    tool('create_issue', '', {}),
    tool('make_issue', '', {}),
    tool('list', 'Lists things.', {}),
  ];
  expect(await callsFor('Create an issue', offered)).toEqual(['create_issue {}']);
  expect(await callsFor('Comment on the issue', offered)).toEqual(['create_issue_comment {}']);
  expect(await callsFor('make_issue', offered)).toEqual(['make_issue {}']);
  expect(await callsFor('list', offered)).toEqual(['list {}']);
});

test('a word is never used for two arguments', async () => {
  expect(await callsFor('Add 3')).toEqual([]);
  expect(await textFor([{ role: 'user', text: 'Add 3' }])).toContain(
    "I did not call addNumbers: I found nothing for 'b'",
  );
});

test('a required argument that the instruction does not give is named, and the tool is not called', async () => {
  const messages: ModelMessage[] = [{ role: 'user', text: "What's the weather?" }];
  expect(await textFor(messages)).toBe(
    "I am not a language model; I only match words.\nI did not call get_forecast: I found nothing for 'city' in the instruction.",
  );
});

test('a number that the schema does not allow is not taken', async () => {
  const pages = [tool('open_page', '', { page: { type: 'integer', minimum: 1, maximum: 9 } }, ['page'])];
  expect(await callsFor('Open page 12', pages)).toEqual([]);
  expect(await callsFor('Open page 2.5', pages)).toEqual([]);
  expect(await callsFor('Open page 9', pages)).toEqual(['open_page {"page":9}']);
});

test('a constant, a boolean that is spelled out, and several listed values are found', async () => {
  const offered = [
    tool(
      'draw_chart',
      'Draws a chart.',
      {
        kind: { const: 'bar' },
        legend: { type: 'boolean' },
        series: { type: 'array', items: { type: 'string', enum: ['sales', 'costs', 'profit'] } },
      },
      ['kind', 'series'],
    ),
  ];
  expect(await callsFor('Draw a chart of sales and profit, legend: off', offered)).toEqual([
    'draw_chart {"kind":"bar","legend":false,"series":["sales","profit"]}',
  ]);
});

test('parameters and tools with the names of the prototype are ordinary ones', async () => {
  const properties: unknown = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}');
  const offered = [
    {
      name: 'greet',
      description: '',
      parameters: JsonText.of({ type: 'object', properties, required: ['__proto__', 'constructor'] }),
    },
    tool('constructor', '', {}),
  ];
  expect(await callsFor('Greet Ada 3', offered)).toEqual(['greet {"__proto__":"Ada","constructor":3}']);
  expect(await callsFor('toString', offered)).toEqual([]);
});

test('odd schemas of parameters harm nobody', async () => {
  for (const parameters of [
    'true',
    '[]',
    '{"properties":5,"required":{}}',
    '{"properties":{"a":null},"required":[7,"a"]}',
  ]) {
    const offered = [{ name: 'paint', description: '', parameters: new JsonText(parameters) }];
    await expect(answer([{ role: 'user', text: 'paint it' }], offered)).resolves.toBeDefined();
  }
});

test('after results it quotes them or says what failed, and calls nothing more', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', text: "What's the weather in Rome? And the time? And what are the events?" },
    { role: 'assistant', content: [] },
    {
      role: 'tool',
      results: [
        {
          callId: 'a',
          name: 'get_forecast',
          content: '{"forecast":"sunny","n":9007199254740993}',
          isError: false,
        },
        { callId: 'b', name: 'current_time', content: 'error: the clock stopped', isError: true },
      ],
    },
  ];
  expect(await textFor(messages)).toBe(
    [
      'I am not a language model; I only match words.',
      'get_forecast answered: {"forecast":"sunny","n":9007199254740993}',
      'current_time failed: the clock stopped',
      "I did not call list_events: I found nothing for 'date' in the instruction.",
    ].join('\n'),
  );
  expect((await answer(messages)).some(({ type }) => type === 'tool-call')).toBe(false);
});

test('a long result is quoted in part', async () => {
  const content = JSON.stringify('x'.repeat(10_000));
  const said = await textFor([
    { role: 'user', text: 'weather in Rome' },
    { role: 'tool', results: [{ callId: 'a', name: 'get_forecast', content, isError: false }] },
  ]);
  expect(said.length).toBeLessThan(2_200);
  expect(said.endsWith('…')).toBe(true);
});

test('without a match it says what it is and which tools it sees, and without tools that it has none', async () => {
  const many = Array.from({ length: 500 }, (_, index) => tool(`tool_number_${index}`, '', {}));
  expect(await textFor([{ role: 'user', text: 'Sing!' }], [])).toBe(
    'I am not a language model; I only match words.\nI have no tools.',
  );
  const said = await textFor([{ role: 'user', text: 'Sing!' }], many);
  expect(said).toContain('Tools: tool_number_0, tool_number_1,');
  expect(said).toMatch(/ and \d+ more\.$/u);
  expect(said.length).toBeLessThan(1_200);
});

test('hostile instructions over many tools are decided quickly', async () => {
  const many = [
    ...tools,
    ...Array.from({ length: 1_000 }, (_, index) =>
      tool(`tool_${index}`, 'Weather of a city.', { city: text }, ['city']),
    ),
  ];
  const hostile = ["'", '"', '“', 'a-', '+', 'http://', '1,', 'Rome ', 'weather in ', '?', 'and '].map(
    (piece) => piece.repeat(40_000),
  );
  const startedAt = performance.now();
  for (const instruction of hostile) await callsFor(instruction, many);
  const wide = tool(
    'weather',
    '',
    Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, text])),
  );
  for (const instruction of hostile) await callsFor(instruction, [wide]);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
