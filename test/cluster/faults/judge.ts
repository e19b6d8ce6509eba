import { errorCodes } from '@remotes-hub/protocol';
import type { Silence } from './cluster.js';
import type { CallRecord, Ledger } from './ledger.js';
import { CALL_TIMEOUT_MS } from './load.js';
import type { Problems } from './problems.js';
import type { PlayedSession } from './sessions.js';

/** How late a call may end, in milliseconds. */
const LATE_MS = 1_000;

/** How much later the client itself gives up when its hub is silent (client-sdk/README.md, "Calling functions"). */
const CLIENT_MARGIN_MS = 5_000;

/** Most that passes between the loss of a connection and the time when everything is served again, in milliseconds. */
const COME_BACK_MS = 20_000;

const knownCodes: ReadonlySet<string> = new Set(errorCodes);

/** What is judged. */
export interface Evidence {
  readonly ledger: Ledger;
  readonly sessions: readonly PlayedSession[];
  /** Of nodes. */
  readonly silences: readonly Silence[];
  /** How long the test itself did nothing, so that a call may have ended so much earlier than it seems; milliseconds. */
  readonly ownDelayMs: number;
}

/** Judges every call, once all have ended and everything that could still run has run. */
export function judgeCalls(evidence: Evidence, problems: Problems): void {
  const { ledger, sessions } = evidence;
  for (const record of ledger.records) {
    const [caller, target] = [sessions[record.caller], sessions[record.target]];
    if (caller === undefined || target === undefined) throw new Error('sessions are kept in their order');
    const { node } = caller.place;
    judgeEnd(record, node, evidence, problems);
    judgeResult(record, problems);
    judgeFailure(record, problems);
    if (target.place.node === node && !hadGone(target, record)) judgeWithinNode(record, problems);
    if (record.ranAt.length > 1) problems.add('a call ran more than once', story(record));
  }
}

/** Whether the session may not have served when it was called. */
function hadGone({ reconnectedAt }: PlayedSession, { startedAt, endedAt = Infinity }: CallRecord): boolean {
  return reconnectedAt.some((at) => at > startedAt - COME_BACK_MS && at < endedAt + COME_BACK_MS);
}

/** Redis is not needed where caller and remote are on one node. */
function judgeWithinNode(record: CallRecord, problems: Problems): void {
  if (record.failure?.code === 'backplane-unavailable')
    problems.add('a call within one node failed for want of the others', story(record));
}

function judgeEnd(
  record: CallRecord,
  node: number,
  { silences, ownDelayMs }: Evidence,
  problems: Problems,
): void {
  const { startedAt, endedAt, result, failure } = record;
  if (endedAt === undefined) return problems.add('a call has not ended', story(record));
  if ((result === undefined) === (failure === undefined))
    problems.add('a call has no one end', story(record));
  const isSilent = silences.some(
    (silence) => silence.node === node && startedAt < silence.to && endedAt > silence.from,
  );
  const allowedMs = CALL_TIMEOUT_MS + LATE_MS + (isSilent ? CLIENT_MARGIN_MS : 0) + ownDelayMs;
  if (endedAt - startedAt > allowedMs) problems.add(`a call took more than ${allowedMs} ms`, story(record));
}

function judgeResult(record: CallRecord, problems: Problems): void {
  const { id, target, result, ranAt } = record;
  if (result === undefined) return;
  if (JSON.stringify(result) !== JSON.stringify({ id, by: target }))
    problems.add('a call got the result of another', story(record));
  if (!ranAt.includes(target))
    problems.add('a call has a result, and its function did not run', story(record));
}

function judgeFailure(record: CallRecord, problems: Problems): void {
  const { failure, ranAt } = record;
  if (failure === undefined) return;
  const { code, executed, retryable } = failure;
  if (!knownCodes.has(code)) problems.add('a call failed with an unknown code', story(record));
  if (code === 'call-cancelled')
    problems.add('a call was cancelled, and nobody had asked for it', story(record));
  if (executed === 'no' && ranAt.length > 0)
    problems.add(`a call ran, but "no" was told (${code})`, story(record));
  if (executed === 'yes' && ranAt.length === 0)
    problems.add(`a call did not run, but "yes" was told (${code})`, story(record));
  if (retryable && ranAt.length > 0) problems.add(`a call ran, but may be repeated (${code})`, story(record));
}

function story({ startedAt, endedAt, ...record }: CallRecord): string {
  const tookMs = endedAt === undefined ? undefined : Math.round(endedAt - startedAt);
  return JSON.stringify({ ...record, at: Math.round(startedAt), tookMs });
}
