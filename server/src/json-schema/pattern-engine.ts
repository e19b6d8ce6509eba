import { RE2JS } from 're2js';
import type { StepCounter } from './step-counter.js';

// Bytes that the automaton of one pattern may keep between matches, by its own count.
const maxAutomatonBytes = 65_536;

// In steps of about 20 ns: measured on the slowest inputs found (test/server/json-schema/hostile.test.ts).
const stepsPerMatch = 20;
const stepsPerState = 12;
const stepsPerThread = 5;

/**
 * A pattern compiled for re2js whose matches are metered.
 *
 * re2js matches in time linear in the text, but the factor is the size of the pattern, and a lazy
 * automaton over a hostile pattern costs a state for each character. So the two places where that
 * work is done are counted while it is done, and a match ends by an exception when the budget is used
 * up. The one-pass engine and the searches for literal texts are switched off: their worst cases are
 * text times pattern too, and cannot be counted.
 */
export class MeteredPattern {
  readonly #engine: RE2JS;
  #counter: StepCounter | undefined;

  /** @throws when re2js does not know the syntax, or the pattern is too big for it */
  constructor(source: string) {
    this.#engine = RE2JS.compile(source);
    this.#meter();
  }

  /** Whether the text has a match anywhere. @throws {TooComplexError} */
  test(text: string, counter: StepCounter): boolean {
    counter.spend(stepsPerMatch + text.length / 2);
    this.#counter = counter;
    try {
      return this.#engine.test(text);
    } finally {
      this.#counter = undefined;
    }
  }

  #meter(): void {
    const program = this.#engine.re2();
    Reflect.set(program, 'onepass', null);
    program.prefilter = null;
    program.prefixComplete = false;
    program.prefix = '';
    const automaton = program.dfa;
    automaton.maxMem = maxAutomatonBytes;
    automaton.stateBudget = maxAutomatonBytes;
    automaton.memBudget = maxAutomatonBytes;

    // Steps within a text are asked for only when the next state is not known yet, so that it is built.
    const step: (...parameters: unknown[]) => unknown = automaton.step.bind(automaton);
    automaton.step = (...parameters: unknown[]): unknown => {
      const [state, characterClass] = parameters;
      if (knowsNext(state, characterClass)) return step(...parameters);
      this.#spend(stepsPerState + automaton.numClasses / 8 + threadsOf(state) * stepsPerThread);
      const next = step(...parameters);
      this.#spend(threadsOf(next) * stepsPerThread);
      return next;
    };

    // Without an answer of the automaton, a simulation follows that costs text times instructions.
    const match: (...parameters: unknown[]) => unknown = automaton.match.bind(automaton);
    const instructions = Number(program.numberOfInstructions());
    automaton.match = (...parameters: unknown[]): unknown => {
      const answer = match(...parameters);
      if (answer === null) this.#spend(instructions * lengthOf(parameters[0]) * 2);
      return answer;
    };
  }

  #spend(steps: number): void {
    this.#counter?.spend(steps);
  }
}

/** How many places of the program a state of the automaton stands for. */
function threadsOf(state: unknown): number {
  if (typeof state !== 'object' || state === null || !('nfaStates' in state)) return 0;
  return Array.isArray(state.nfaStates) ? state.nfaStates.length : 0;
}

function knowsNext(state: unknown, characterClass: unknown): boolean {
  if (typeof state !== 'object' || state === null || !('next' in state)) return false;
  if (!Array.isArray(state.next) || typeof characterClass !== 'number') return false;
  const next: unknown = state.next[characterClass];
  return next !== null && next !== undefined;
}

/** The length of an input of the engine. */
function lengthOf(input: unknown): number {
  if (typeof input !== 'object' || input === null || !('end' in input)) return 0;
  return typeof input.end === 'number' ? input.end + 1 : 0;
}
