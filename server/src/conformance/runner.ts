import { show } from './expectations.js';
import type { RuleOutcome } from './report.js';
import { RuleFailure, RuleSkipped, type Rule } from './rule.js';

/** How long a check may take when its rule does not say. */
const DEADLINE_MS = 20_000;

/** Which rules are checked, and who is told. */
export interface RunOptions<Subject> {
  readonly rules: readonly Rule<Subject>[];
  /** Makes what one rule looks at: it has connections of its own, which end with it. */
  readonly open: () => Subject & AsyncDisposable;
  /** Ids; the prerequisites are checked in any case, and reported when they fail. @default all */
  readonly only?: ReadonlySet<string>;
  /** Whether rules that wait for a timer of many seconds are checked too. @default false */
  readonly includeSlow?: boolean;
  /** Ends the run after the rule that is being checked. */
  readonly signal?: AbortSignal;
  /** Told each outcome as it comes. */
  readonly onOutcome?: (outcome: RuleOutcome) => void;
}

/** Checks rules one after the other. Never rejects for what the subject does. */
export async function runRules<Subject>(options: RunOptions<Subject>): Promise<RuleOutcome[]> {
  const { only, signal, includeSlow = false, onOutcome } = options;
  const outcomes: RuleOutcome[] = [];
  let missing: string | undefined;
  for (const rule of prerequisitesFirst(options.rules)) {
    const isWanted = only?.has(rule.id) ?? true;
    if (signal?.aborted === true) break;
    if (!isWanted && rule.isPrerequisite !== true) continue;
    const skipped = missing ?? (rule.isSlow === true && !includeSlow ? 'only with --slow' : undefined);
    const outcome = skipped === undefined ? await check(rule, options.open) : skip(rule, skipped);
    if (rule.isPrerequisite === true && outcome.outcome !== 'passed') missing ??= `${rule.id} does not hold`;
    if (!isWanted && outcome.outcome !== 'failed') continue;
    outcomes.push(outcome);
    onOutcome?.(outcome);
  }
  return outcomes;
}

function prerequisitesFirst<Subject>(rules: readonly Rule<Subject>[]): Rule<Subject>[] {
  const isFirst = ({ isPrerequisite }: Rule<Subject>): boolean => isPrerequisite === true;
  return [...rules.filter((rule) => isFirst(rule)), ...rules.filter((rule) => !isFirst(rule))];
}

async function check<Subject>(
  rule: Rule<Subject>,
  open: () => Subject & AsyncDisposable,
): Promise<RuleOutcome> {
  const { id, title, where, deadlineMs = DEADLINE_MS } = rule;
  const start = performance.now();
  const ended = (): { durationMs: number } => ({ durationMs: Math.round(performance.now() - start) });
  try {
    await using subject = open();
    await withinDeadline(rule.check(subject), deadlineMs);
    return { id, title, where, outcome: 'passed', ...ended() };
  } catch (error) {
    if (error instanceof RuleSkipped) {
      return { id, title, where, outcome: 'skipped', reason: error.message, ...ended() };
    }
    const { expected, received } =
      error instanceof RuleFailure ? error : { expected: 'no trouble', received: show(String(error)) };
    return { id, title, where, outcome: 'failed', expected, received, ...ended() };
  }
}

function skip<Subject>({ id, title, where }: Rule<Subject>, reason: string): RuleOutcome {
  return { id, title, where, outcome: 'skipped', reason, durationMs: 0 };
}

async function withinDeadline(checking: Promise<void>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new RuleFailure(`an end of this check within ${deadlineMs} ms`, 'none'));
    }, deadlineMs);
  });
  try {
    await Promise.race([checking, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
