import { expect, test } from 'vitest';
import { findFunctions } from '../../../server/src/cli/served-module.js';

function served(exports: unknown) {
  const { functions, ignored } = findFunctions(exports);
  return { names: [...functions.keys()], ignored };
}

test('CLI-04: exported functions and objects with a handler are served', () => {
  const add = Object.assign(() => 0, { description: 'adds', parameters: { type: 'object' } });
  const { functions } = findFunctions({
    add,
    plain: () => 1,
    slow: { description: 'slow', timeoutMs: 5, handler: () => 2 },
  });
  expect([...functions]).toMatchObject([
    ['add', { description: 'adds', parameters: { type: 'object' } }],
    ['plain', {}],
    ['slow', { description: 'slow', timeoutMs: 5 }],
  ]);
  for (const definition of functions.values())
    expect(definition).toHaveProperty('handler', expect.any(Function));
});

test('a default export has the same shape, and named exports win over it', () => {
  const named = Object.assign(() => 1, { description: 'named' });
  const { functions } = findFunctions({ f: named, default: { f: () => 2, g: { handler: () => 3 } } });
  expect([...functions.keys()]).toEqual(['f', 'g']);
  expect(functions.get('f')).toMatchObject({ description: 'named' });
});

test('a function as the default export has its own name', () => {
  expect(served({ default: function ping() {} }).names).toEqual(['ping']);
});

test('classes and other values are left out by name', () => {
  class Station {
    name = 'Roma';
  }
  expect(
    served({ f: () => 1, Station, version: 1, nothing: null, list: [], default: { extra: 'x' } }),
  ).toEqual({
    names: ['f'],
    ignored: ['Station', 'version', 'nothing', 'list', 'extra'],
  });
});

test('a CommonJS module is not served twice', () => {
  const f = () => 1;
  expect(served({ f, default: { f }, 'module.exports': { f } })).toEqual({ names: ['f'], ignored: [] });
});
