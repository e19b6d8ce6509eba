import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Place } from '../../../server/src/linked-list.js';
import { Deadlines, type Overdue } from '../../../server/src/remotes/deadlines.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface Waiting extends Overdue {
  place?: Place<Overdue>;
  isWaitedFor: boolean;
  ranAt: number | undefined;
}

function waiting(inMs: number): Waiting {
  const item: Waiting = {
    dueAt: performance.now() + inMs,
    isWaitedFor: true,
    ranAt: undefined,
    overdue: () => {
      item.ranAt = performance.now();
      item.isWaitedFor = false;
    },
  };
  return item;
}

const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('add'),
      ms: fc.oneof(fc.nat(200), fc.constantFrom(0, 49, 50, 51, 30_000, 600_000)),
    }),
    fc.record({ do: fc.constant('delete'), ms: fc.nat(20) }),
    fc.record({ do: fc.constant('pass'), ms: fc.oneof(fc.nat(120), fc.constantFrom(0, 1, 30_000)) }),
  ),
  { maxLength: 60 },
);

test('each item runs once, at its deadline, unless it was ended before; one timer waits for all', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const deadlines = new Deadlines();
      const items: Waiting[] = [];
      for (const step of script) {
        if (step.do === 'add') {
          const item = waiting(step.ms);
          items.push(item);
          item.place = deadlines.add(item);
        } else if (step.do === 'delete') {
          const item = items[step.ms];
          if (item === undefined) continue;
          item.place?.leave();
          item.isWaitedFor = false;
        } else vi.advanceTimersByTime(step.ms);
        for (const item of items) {
          if (item.ranAt !== undefined) expect(item.ranAt).toBe(item.dueAt);
          else if (item.isWaitedFor) expect(item.dueAt).toBeGreaterThanOrEqual(performance.now());
        }
        expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
        if (items.some(({ isWaitedFor }) => isWaitedFor)) expect(vi.getTimerCount()).toBe(1);
      }
      for (const item of items) item.place?.leave();
      vi.advanceTimersByTime(600_000); // it runs once more, for nothing
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('an item that ends another one when it runs does not hold up the rest', () => {
  const deadlines = new Deadlines();
  const ran: string[] = [];
  const named = (name: string, dueAt: number): Overdue => ({ dueAt, overdue: () => void ran.push(name) });
  const now = performance.now();
  deadlines.add({
    dueAt: now + 10,
    overdue: () => {
      ran.push('first');
      last.leave();
      deadlines.add(named('new', now + 15));
    },
  });
  const last = deadlines.add(named('last', now + 20));
  vi.advanceTimersByTime(30);
  expect(ran).toEqual(['first', 'new']);
  expect(vi.getTimerCount()).toBe(0);
});
