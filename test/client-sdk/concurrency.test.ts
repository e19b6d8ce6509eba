import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, StandardSchema } from '@remotes-hub/client';
import { parseFunctions } from '../../client-sdk/src/functions.js';
import type { Outcome } from '../../client-sdk/src/served-function.js';
import { LoggedIn } from './scripted-hub.js';

/** A handler whose calls end when the test says so, and what it was called with, in order. */
function controlled() {
  const ends = new Map<unknown, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  const started: unknown[] = [];
  const handler = async ({ n }: JsonObject): Promise<unknown> => {
    started.push(n);
    return new Promise((resolve, reject) => ends.set(n, { resolve, reject }));
  };
  return { started, ends, handler };
}

test.each([0, 10_001, 1.5])('SDK-21: a limit of %d is refused', async (maxConcurrent) => {
  await using session = await LoggedIn.start();

  await expect(session.client.serve('x', { f: { maxConcurrent, handler: () => 1 } })).rejects.toThrow(
    new RangeError(`functions.f.maxConcurrent: expected an integer from 1 to 10000, got ${maxConcurrent}`),
  );
});

test('SDK-21: calls beyond the limit wait in order; other functions and the hub do not notice', async () => {
  await using session = await LoggedIn.start();
  const { hub } = session;
  const { started, ends, handler } = controlled();
  const request = await session.serve({ f: { maxConcurrent: 2, handler }, g: { handler: () => 'free' } });
  expect(request['body']).toMatchObject({ tools: [{ name: 'f' }, { name: 'g' }] });
  expect(JSON.stringify(request)).not.toContain('maxConcurrent');

  for (let n = 0; n < 4; n += 1) {
    hub.send({ action: 'remote-call', requestId: `x#${n}`, function: 'f', args: { n } });
  }
  expect(await hub.call('x#4', 'g')).toMatchObject({ result: 'free' });
  expect(started).toEqual([0, 1]);

  ends.get(1)?.reject(new Error('broken'));
  expect(await hub.next()).toMatchObject({ requestId: 'x#1', error: 'broken', executed: 'yes' });
  await session.settled();
  expect(started).toEqual([0, 1, 2]);
  ends.get(0)?.resolve('zero');
  ends.get(2)?.resolve('two');
  expect([await hub.next(), await hub.next()]).toMatchObject([{ result: 'zero' }, { result: 'two' }]);
  await session.settled();
  expect(started).toEqual([0, 1, 2, 3]);
});

test('SDK-21: a cancelled call leaves the queue without running, and a running one keeps its place', async () => {
  await using session = await LoggedIn.start();
  const { hub } = session;
  const { started, ends, handler } = controlled();
  await session.serve({ f: { maxConcurrent: 1, handler } });
  for (let n = 0; n < 3; n += 1) {
    hub.send({ action: 'remote-call', requestId: `x#${n}`, function: 'f', args: { n } });
  }
  await session.settled();
  hub.send({ action: 'remote-call-cancel', requestId: 'x#1', reason: 'call-timeout' });
  hub.send({ action: 'remote-call-cancel', requestId: 'x#0', reason: 'call-cancelled' });
  await session.settled();
  expect(started).toEqual([0]); // its handler has not ended

  ends.get(0)?.resolve('too late');
  await session.settled();
  expect(started).toEqual([0, 2]);
  ends.get(2)?.resolve('two');
  expect(await hub.next()).toMatchObject({ requestId: 'x#2', result: 'two' });
  expect(hub.untaken).toEqual([]);
});

test('SDK-21: a session that ends takes its waiting calls along', async () => {
  await using session = await LoggedIn.start();
  const { started, ends, handler } = controlled();
  await session.serve({ f: { maxConcurrent: 1, handler } });
  for (const n of [0, 1]) {
    session.hub.send({ action: 'remote-call', requestId: `x#${n}`, function: 'f', args: { n } });
  }
  await session.settled();
  await session.client.close();
  ends.get(0)?.resolve('too late');
  await settle();

  expect(started).toEqual([0]);
});

test('SDK-21: arguments that are refused give their place to the next call', async () => {
  await using session = await LoggedIn.start();
  const parameters: StandardSchema<{ n: number }> = {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (args) => {
        const n = typeof args === 'object' && args !== null && 'n' in args ? args.n : undefined;
        if (n === 'throw') throw new Error('no table');
        return typeof n === 'number' ? { value: { n } } : { issues: [{ message: 'no number' }] };
      },
    },
  };
  await session.serve({ f: { maxConcurrent: 1, parameters, jsonSchema: {}, handler: ({ n }) => n } });

  for (const [index, n] of ['a', 'throw', 2, 'b', 3].entries()) {
    session.hub.send({ action: 'remote-call', requestId: `x#${index}`, function: 'f', args: { n } });
  }
  const answers = [];
  for (let index = 0; index < 5; index += 1) answers.push(await session.hub.next());
  expect(answers).toMatchObject([
    { requestId: 'x#0', error: 'arguments of f: no number', executed: 'no' },
    { requestId: 'x#1', error: 'arguments of f could not be checked: no table', executed: 'no' },
    { requestId: 'x#2', result: 2 },
    { requestId: 'x#3', executed: 'no' },
    { requestId: 'x#4', result: 3 },
  ]);
});

/** Some turns of the microtask queue: nothing here waits for anything else. */
async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}

/** One call, made as `Serving` makes it: prepared, then run unless its signal has aborted. */
class Call {
  readonly #controller = new AbortController();
  outcome: Outcome | undefined;

  constructor(prepare: (args: JsonObject, signal: AbortSignal) => Promise<Outcome>, n: number) {
    void this.#run(prepare({ n }, this.#controller.signal));
  }

  abort(): void {
    this.#controller.abort();
  }

  async #run(prepared: Promise<Outcome>): Promise<void> {
    this.outcome = await prepared;
    if ('refusal' in this.outcome || this.#controller.signal.aborted) return;
    await Promise.resolve(this.outcome.call()).catch(() => undefined);
  }
}

interface Step {
  /** `brief` is a call that is aborted after these turns. */
  readonly kind: 'call' | 'brief' | 'end' | 'fail' | 'abort';
  /** Which of the calls made so far, counted from the last. */
  readonly back: number;
  /** How many turns of the microtask queue pass after it. */
  readonly turns: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('call', 'call', 'brief', 'end', 'end', 'fail', 'abort'),
    back: fc.nat(8),
    turns: fc.oneof(fc.nat(8), fc.constant(20)),
  }),
  { maxLength: 60 },
);

test('SDK-21: at most so many run, all others in order, and every place is given back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (maxConcurrent, script) => {
      const { started, ends, handler } = controlled();
      const served = parseFunctions({ f: { maxConcurrent, handler } }).get('f');
      if (served === undefined) throw new Error('f is not served');
      const calls: Call[] = [];
      const begin = (): number => {
        const n = calls.length;
        const prepare = async (args: JsonObject, signal: AbortSignal): Promise<Outcome> =>
          served.prepare(args, {
            signal,
            requestId: `x#${n}`,
            timeoutMs: undefined,
            progress: () => undefined,
          });
        calls.push(new Call(prepare, n));
        return n;
      };
      const ended = new Set<unknown>();
      const end = (n: number, fails: boolean): void => {
        if (fails) ends.get(n)?.reject(new Error('broken'));
        else ends.get(n)?.resolve(n);
        if (ends.has(n)) ended.add(n);
      };

      const aborted = new Set<number>();
      const abort = (n: number): void => {
        if (n >= 0) aborted.add(n);
        calls[n]?.abort();
      };
      for (const { kind, back, turns } of script) {
        const n = kind === 'call' || kind === 'brief' ? begin() : calls.length - 1 - back;
        if (kind === 'end' || kind === 'fail') end(n, kind === 'fail');
        if (kind === 'abort') abort(n);
        await settle(turns);
        if (kind === 'brief') abort(n);
        expect(started.length - ended.size).toBeLessThanOrEqual(maxConcurrent);
      }
      await settle();
      expect(started).toEqual(started.toSorted((a, b) => Number(a) - Number(b)));

      for (let round = 0; round <= calls.length; round += 1) {
        for (const n of started) end(Number(n), false);
        await settle();
      }
      const missing = calls.flatMap((_call, n) => (started.includes(n) || aborted.has(n) ? [] : [n]));
      expect(missing).toEqual([]);
      // whoever left the queue has been told, though nobody may have asked for it to run
      expect(calls.filter(({ outcome }) => outcome === undefined)).toEqual([]);

      for (let more = 0; more < maxConcurrent; more += 1) begin(); // all places are free again
      await settle();
      expect(started.length - ended.size).toBe(maxConcurrent);
    }),
    { numRuns: 300 },
  );
});
