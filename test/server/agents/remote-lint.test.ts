import type { FunctionSpec } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { doublingSchema } from '../../support/doubling-schema.js';
import { startTestHub } from '../../support/hub.js';

/** The report on a remote that serves these functions. */
async function lint(tools: readonly FunctionSpec[], prefix?: string) {
  await using hub = await startTestHub();
  await using session = await hub.connect();
  await session.request('remote-connect', { remotename: 'r', tools: [...tools] });
  return await session.request('remote-lint', { remotename: 'r', ...(prefix !== undefined && { prefix }) });
}

/** What both providers are told of one function. */
function verdicts(verdict: object) {
  return { 'openai-compatible': verdict, anthropic: verdict };
}

test('RUN-20: a function that every provider takes as it is is ok, without hints', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  expect(await lint([{ name: 'get_forecast', description: 'The forecast.', parameters }])).toMatchObject({
    remotename: 'r',
    functions: [{ name: 'get_forecast', providers: verdicts({ status: 'ok' }), hints: [] }],
    hints: [],
  });
});

test('RUN-20: a name that providers refuse is told as it is sent', async () => {
  const { functions } = await lint([{ name: 'find station', description: 'Finds.' }]);
  expect(functions).toMatchObject([
    { name: 'find station', providers: verdicts({ status: 'mapped', name: 'find_station_d3f8958d' }) },
  ]);
});

test('RUN-20: a prefix counts in the length of a name, and is part of what is sent', async () => {
  const tools = [{ name: 'a'.repeat(60), description: 'Long.' }];
  expect((await lint(tools)).functions).toMatchObject([{ providers: verdicts({ status: 'ok' }) }]);
  expect((await lint(tools, 'weather_')).functions).toMatchObject([
    {
      name: 'a'.repeat(60),
      providers: verdicts({ status: 'mapped', name: `weather_${'a'.repeat(47)}_45b3a1b0` }),
    },
  ]);
});

test('RUN-20: what changes in a schema or a description is listed', async () => {
  const parameters = { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] };
  const { functions } = await lint([
    { name: 'union', description: 'x', parameters },
    { name: 'list', description: 'x', parameters: { properties: { a: { type: 'array' } } } },
    { name: 'verbose', description: 'x'.repeat(2_000) },
  ]);
  const projected = (...changes: string[]) => verdicts({ status: 'projected', changes });
  expect(functions).toMatchObject([
    { providers: projected("'oneOf' at the top moved into the description") },
    { providers: projected("'items' was added to an array") },
    { providers: projected('the description was cut to 1024 characters') },
  ]);
});

test('RUN-20: a function that cannot be sent is refused with the reason, and no other one is touched', async () => {
  const { functions } = await lint([
    { name: 'doubling', description: 'x', parameters: doublingSchema(16) },
    { name: 'plain', description: 'x' },
  ]);
  expect(functions).toMatchObject([
    { providers: verdicts({ status: 'refused', reason: 'the parameters hold more than 4000 schemas' }) },
    { providers: verdicts({ status: 'ok' }) },
  ]);
});

test('RUN-20: hints name what helps models, what is not enforced, and a remote of too many functions', async () => {
  const parameters = { type: 'object', properties: { code: { type: 'string', pattern: '(?<=a)b' } } };
  const many = Array.from({ length: 129 }, (_, index) => ({ name: `f${index}`, description: 'x' }));
  const { functions, hints } = await lint([{ name: 'bare', description: ' ', parameters }, ...many]);
  expect(functions).toMatchObject([
    {
      hints: [
        'it has no description: models choose by it',
        'parameters/properties/code/pattern: this pattern needs backtracking and is not enforced',
      ],
    },
    ...many.map(() => ({ hints: [] })),
  ]);
  expect(hints).toEqual([
    expect.stringMatching(/^130 functions are more than the 128 tools of one request/u),
  ]);
});

test("RUN-20: a remote that is not connected, or is another user's, is not found", async () => {
  await using hub = await startTestHub();
  await using ada = await hub.connect({ user: 'ada' });
  await using eve = await hub.connect({ user: 'eve' });
  await ada.serve('r', ['f']);
  const refusal = { error: "no connected remote named 'r'", code: 'remote-not-connected' };
  expect(await eve.request('remote-lint', { remotename: 'r' })).toMatchObject(refusal);
  expect(await eve.request('remote-lint', { remotename: '' })).toMatchObject({ code: 'invalid-body' });
});
