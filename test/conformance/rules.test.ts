// CONFORM-01 CONFORM-02
import { expect, test } from 'vitest';
import { clientRules } from '../../server/src/conformance/client-rules/index.js';
import { hubRules } from '../../server/src/conformance/hub-rules/index.js';
import { behaviours } from '../manifest.js';

const places = new Map(behaviours.map(({ id, where }) => [id, where]));
const rules = [...hubRules, ...clientRules];

test('every rule is a behaviour of the manifest, specified at the same place', () => {
  const astray = rules.filter(({ id, where }) => places.get(id) !== `protocol/README.md#${where}`);
  expect(astray.map(({ id, where }) => [id, where, places.get(id)])).toEqual([]);
});

test('a rule has an id and a title of its own', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
});

test('every behaviour of clients on the wire is judged by the kit', () => {
  const wanted = behaviours.filter(({ id }) => id.startsWith('CLIENT-')).map(({ id }) => id);
  expect(clientRules.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted());
});
