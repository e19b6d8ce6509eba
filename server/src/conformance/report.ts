/** What came of one rule. */
export interface RuleOutcome {
  readonly id: string;
  readonly title: string;
  /** The heading of protocol/README.md. */
  readonly where: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly durationMs: number;
  /** Of a failed rule: what the specification wants here. */
  readonly expected?: string;
  /** Of a failed rule: what came. */
  readonly received?: string;
  /** Of a skipped rule. */
  readonly reason?: string;
}

/** How many rules ended how. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts outcomes. */
export function totalsOf(outcomes: readonly RuleOutcome[]): Totals {
  const count = (wanted: RuleOutcome['outcome']): number =>
    outcomes.filter(({ outcome }) => outcome === wanted).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

const marks = { passed: 'pass', failed: 'FAIL', skipped: 'skip' } as const;

/** An outcome for people: one line, and what was expected under a failure. */
export function outcomeLines(outcome: RuleOutcome): string[] {
  const { id, title, where, expected, received, reason } = outcome;
  const line = `${marks[outcome.outcome]}  ${id.padEnd(10)}  ${title}`;
  if (outcome.outcome === 'skipped') return [`${line} (${reason ?? 'not checked'})`];
  if (outcome.outcome === 'passed') return [line];
  return [
    line,
    `      where:    protocol/README.md, "${where}"`,
    `      expected: ${expected ?? ''}`,
    `      received: ${received ?? ''}`,
  ];
}

/** The last line for people. */
export function totalsLine(outcomes: readonly RuleOutcome[]): string {
  const { passed, failed, skipped } = totalsOf(outcomes);
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
