import { expect, test } from 'vitest';
import { OpenAiToolCalls } from '../../../../server/src/agents/models/openai-tool-calls.js';
import { chunk, done, toolDelta } from '../../../support/model-servers/openai-wire.js';
import { stream } from '../../../support/model-servers/scripted-server.js';
import { callsOf } from './adapter.js';
import { f, more, partsOf } from './openai-fixtures.js';

const collect = (deltas: readonly unknown[]) => {
  const calls = new OpenAiToolCalls();
  for (const delta of deltas) calls.add(delta);
  return callsOf([...calls.parts()]);
};

test.each([
  [
    'an index of its own each',
    toolDelta(f('{"p":1}', { index: 0, id: 'a' }), f('{"p":2}', { index: 1, id: 'b' })),
  ],
  [
    'one index for both',
    toolDelta(f('{"p":1}', { index: 0, id: 'a' })) + toolDelta(f('{"p":2}', { index: 0, id: 'b' })),
  ],
  ['no index', toolDelta(f('{"p":1}', { id: 'a' })) + toolDelta(f('{"p":2}', { id: 'b' }))],
  [
    'no index, in pieces',
    toolDelta(f('{"p"', { id: 'a' })) +
      toolDelta(more(':1}')) +
      toolDelta(f('{"p":', { id: 'b' })) +
      toolDelta(more('2}')),
  ],
])('K069: two calls of one function with %s are two calls', async (_how, deltas) => {
  const parts = await partsOf(stream(`${deltas}${chunk({ finish: 'tool_calls' })}${done}`));

  expect(callsOf(parts)).toEqual([
    ['a', 'f', '{"p":1}'],
    ['b', 'f', '{"p":2}'],
  ]);
});

test('K069: pieces of two calls that come in turn go to the call of their index', () => {
  const deltas = [
    f('', { index: 0, id: 'a' }),
    f('', { index: 1, id: 'b' }),
    more('{"p"', { index: 0 }),
    more('{"p"', { index: 1 }),
    more(':1}', { index: 0 }),
    more(':2}', { index: 1 }),
  ];

  expect(collect(deltas)).toEqual([
    ['a', 'f', '{"p":1}'],
    ['b', 'f', '{"p":2}'],
  ]);
});

test.each([
  ['no index', [f('{"p":1}'), f('{"p":2}')]],
  ['one index', [f('{"p":1}', { index: 0 }), f('{"p":2}', { index: 0 })]],
])('K069: calls without ids and with %s are told apart by their whole arguments', (_how, deltas) => {
  expect(collect(deltas)).toEqual([
    ['', 'f', '{"p":1}'],
    ['', 'f', '{"p":2}'],
  ]);
});

test('K069: calls without ids and indexes are told apart by their names, even when blank', () => {
  expect(collect([f(''), { function: { name: 'g' } }, more('{}')])).toEqual([
    ['', 'f', ''],
    ['', 'g', '{}'],
  ]);
});

test.each([
  ['repeats its name', [f('{"p"'), f(':1}')]],
  ['repeats its name and index', [f('{"p"', { index: 0 }), f(':1}', { index: 0 })]],
  ['repeats everything', [f('{"p"', { index: 0, id: '' }), f(':1}', { index: 0, id: '' })]],
])('a call that %s with each piece is one call', (_how, deltas) => {
  expect(collect(deltas)).toEqual([['', 'f', '{"p":1}']]);
});

test.each([
  ['gets its id late', [f('{"p"', { index: 0 }), more(':1}', { index: 0, id: 'a' })]],
  ['gets its name late', [{ index: 0, id: 'a' }, f('{"p":1}', { index: 0 })]],
  ['loses its index', [f('{"p"', { index: 0, id: 'a' }), more(':1}', { id: 'a' })]],
  ['gets a new id with each piece', [f('{"p"', { index: 0, id: 'a' }), more(':1}', { index: 0, id: 'x' })]],
  [
    'has null for what is missing',
    [f('{"p"', { index: null, id: 'a' }), more(':1}', { index: null, id: null })],
  ],
  ['has its arguments as an object', [{ index: 0, id: 'a', function: { name: 'f', arguments: { p: 1 } } }]],
  ['has a number for an id', [f('{"p":1}', { index: 0, id: 7 })]],
])('a call that %s is one call', (_how, deltas) => {
  expect(collect(deltas)).toMatchObject([[expect.stringMatching(/^[a7]$/) as unknown, 'f', '{"p":1}']]);
});

test('calls that share one id are told apart by their indexes', () => {
  expect(collect([f('{"p":1}', { index: 0, id: 'a' }), f('{"p":2}', { index: 1, id: 'a' })])).toEqual([
    ['a', 'f', '{"p":1}'],
    ['a', 'f', '{"p":2}'],
  ]);
});

test('deltas that are none are ignored', () => {
  expect(collect([null, 5, 'x', [], f('{}', { id: 'a' })])).toEqual([['a', 'f', '{}']]);
  expect(collect([{ index: 0, id: 'a', function: null }])).toEqual([['a', '', '']]);
});
