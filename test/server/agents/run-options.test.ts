import { expect, test } from 'vitest';
import { readRunOptions } from '../../../server/src/agents/run-options.js';
import { RunWarnings } from '../../../server/src/agents/run-warnings.js';

function read(options: unknown) {
  const warnings = new RunWarnings();
  const chosen = readRunOptions(options, { maxSteps: 8, timeoutMs: 60_000 }, warnings);
  return { ...chosen, context: chosen.context?.text, warnings: warnings.list() };
}

const standard = {
  remotes: [],
  tools: undefined,
  conversationId: undefined,
  context: undefined,
  system: undefined,
  maxSteps: 8,
  timeoutMs: 60_000,
  warnings: [],
};

test.each([undefined, null, {}, [], 'x', 5])(
  'options %j are none: the limits are those of the agent',
  (options) => {
    expect(read(options)).toEqual(standard);
  },
);

test('null is the same as absent, and so is an empty system text', () => {
  const none = { conversationId: null, context: null, system: null, maxSteps: null, timeoutMs: null };
  expect(read(none)).toEqual(standard);
  expect(read({ system: '' })).toEqual(standard);
});

test('options that fit are taken as they are', () => {
  const given = { conversationId: 'c', system: 'Answer in French.', maxSteps: 1, timeoutMs: 1 };
  expect(read(given)).toEqual({ ...standard, ...given });
  const most = {
    conversationId: 'x'.repeat(128),
    system: 'x'.repeat(16_384),
    maxSteps: 8,
    timeoutMs: 60_000,
  };
  expect(read(most)).toEqual({ ...standard, ...most });
});

test.each([
  ['conversationId', '', 'expected a string of 1 to 128 characters; the run belongs to no conversation'],
  [
    'conversationId',
    'x'.repeat(129),
    'expected a string of 1 to 128 characters; the run belongs to no conversation',
  ],
  ['conversationId', 7, 'expected a string of 1 to 128 characters; the run belongs to no conversation'],
  ['system', ['x'], 'expected a string, received array; the run goes on without'],
  ['system', 'é'.repeat(8_193), '16386 bytes, at most 16384 are taken; the run goes on without'],
  ['context', 'x'.repeat(65_535), '65537 bytes of JSON, at most 65536 are taken; the run goes on without'],
  ['maxSteps', 9, 'expected an integer from 1 to 8; the limit is 8'],
  ['maxSteps', 0, 'expected an integer from 1 to 8; the limit is 8'],
  ['maxSteps', '2', 'expected an integer from 1 to 8; the limit is 8'],
  ['timeoutMs', 60_001, 'expected an integer from 1 to 60000; the limit is 60000'],
  ['timeoutMs', 0.5, 'expected an integer from 1 to 60000; the limit is 60000'],
])('options.%s that does not fit becomes a warning and nothing else', (name, value, warning) => {
  expect(read({ [name]: value })).toEqual({ ...standard, warnings: [`options.${name}: ${warning}`] });
});

test.each([0, false, '', 'x', [], {}, { a: [1, null, { b: 'é' }] }])(
  'any JSON value is a context: %j',
  (context) => {
    expect(read({ context })).toEqual({ ...standard, context: JSON.stringify(context) });
  },
);

test('a context keeps the keys that objects inherit, and its largest size is taken', () => {
  const text = '{"__proto__":{"a":1},"constructor":2,"toJSON":"3"}';
  expect(read({ context: JSON.parse(text) as unknown }).context).toBe(text);
  expect(read({ context: 'x'.repeat(65_534) }).context).toHaveLength(65_536);
});

test('inherited properties are no options', () => {
  expect(read(Object.create({ conversationId: 'c', context: 1, system: 's', timeoutMs: 1 }))).toEqual(
    standard,
  );
});
