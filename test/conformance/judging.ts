import { ClientUnderTest, type StartClient } from '../../server/src/conformance/client-under-test.js';
import { clientRules } from '../../server/src/conformance/client-rules/index.js';
import { hubRules } from '../../server/src/conformance/hub-rules/index.js';
import { HubUnderTest, type HubTarget } from '../../server/src/conformance/hub-under-test.js';
import type { RuleOutcome } from '../../server/src/conformance/report.js';
import { runRules } from '../../server/src/conformance/runner.js';

/** Judges a hub, by these rules alone when any are named. */
export async function judgeHub(target: HubTarget, ids?: readonly string[]): Promise<RuleOutcome[]> {
  return runRules({
    rules: hubRules,
    open: () => new HubUnderTest(target),
    includeSlow: target.includeSlow ?? false,
    ...(ids !== undefined && { only: new Set(ids) }),
  });
}

/** Judges a client, by these rules alone when any are named. */
export async function judgeClient(start: StartClient, ids?: readonly string[]): Promise<RuleOutcome[]> {
  return runRules({
    rules: clientRules,
    open: () => new ClientUnderTest(start),
    ...(ids !== undefined && { only: new Set(ids) }),
  });
}

/** Clients that are judged side by side: most rules wait for what must not come. */
const SIDE_BY_SIDE = 4;

/** Judges a client by every rule, several of its kind at a time. */
export async function judgeClientByAll(start: StartClient): Promise<RuleOutcome[]> {
  const parts = Array.from({ length: SIDE_BY_SIDE }, (_, part) =>
    clientRules.filter((_rule, index) => index % SIDE_BY_SIDE === part).map(({ id }) => id),
  );
  const outcomes = await Promise.all(parts.map(async (ids) => judgeClient(start, ids)));
  return outcomes.flat();
}

/** What came of each rule, by its id. */
export function verdicts(outcomes: readonly RuleOutcome[]): Record<string, string> {
  return Object.fromEntries(outcomes.map(({ id, outcome }) => [id, outcome]));
}

/** The rules that did not pass, with all that is known. */
export function notPassed(outcomes: readonly RuleOutcome[]): RuleOutcome[] {
  return outcomes.filter(({ outcome }) => outcome !== 'passed');
}
