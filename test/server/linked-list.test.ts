import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinkedList, type Place } from '../../server/src/linked-list.js';

test('a list holds what was added and has not left, in the order it came', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 200 }), (script) => {
      const list = new LinkedList<number>();
      const there = new Set<number>();
      const places: Place<number>[] = [];
      for (const step of script) {
        if (step === null) {
          there.add(places.length);
          places.push(list.add(places.length));
        } else {
          const place = places[step];
          expect(place?.leave()).toBe(place && there.has(step)); // the second time it has left already
          there.delete(step);
        }
        expect(list.values()).toEqual([...there]);
        expect(list.size).toBe(there.size);
      }
    }),
  );
});

test('a place that was left holds on to no other', () => {
  const list = new LinkedList<string>();
  const [, second] = ['a', 'b', 'c'].map((value) => list.add(value));
  second?.leave();
  expect(second).toMatchObject({ before: undefined, after: undefined });
});

test('places that are left while a list is gone through are told apart from those that are still there', () => {
  const list = new LinkedList<string>();
  const all = ['a', 'b', 'c'].map((value) => list.add(value));
  const ran = list.places().filter((place) => {
    if (place.value === 'a') all[1]?.leave();
    return place.leave();
  });
  expect(ran.map(({ value }) => value)).toEqual(['a', 'c']);
  expect(list.size).toBe(0);
});
