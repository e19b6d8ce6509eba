import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { GenerationalMap } from '../../server/src/generational-map.js';

test('a generational map holds what a map would, however many have come and gone', () => {
  const lifetimes = fc.array(fc.oneof(fc.nat(30), fc.nat(6_000)), { minLength: 4_000, maxLength: 5_000 });
  fc.assert(
    fc.property(lifetimes, (lasting) => {
      const generational = new GenerationalMap<number, string>();
      const map = new Map<number, string>();
      const ending = new Map<number, number[]>();
      for (const [now, time] of lasting.entries()) {
        generational.set(now, `value ${now}`);
        map.set(now, `value ${now}`);
        ending.set(now + time, [...(ending.get(now + time) ?? []), now]);
        for (const key of ending.get(now) ?? []) {
          expect(generational.get(key)).toBe(map.get(key));
          expect(generational.delete(key)).toBe(map.delete(key));
          expect(generational.delete(key)).toBe(false);
          expect(generational.get(key)).toBe(undefined);
        }
        expect(generational.size).toBe(map.size);
      }
      expect(generational.values()).toEqual([...map.values()]);
    }),
    { numRuns: 5 },
  );
});
