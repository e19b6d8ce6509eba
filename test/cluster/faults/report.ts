/** One fault, and what came of it. Times in milliseconds. */
export interface FaultOutcome {
  readonly fault: string;
  /** When it began, from the start of the test. */
  readonly atMs: number;
  /** The node it hit; of no meaning when it hit Redis. */
  readonly node: number;
  /** From its begin until it was lifted. */
  readonly tookMs: number;
  /** From its end until everything was served again, at and from every node. */
  readonly servedAgainMs: number;
  /** The longest time without any result, from its begin until everything was served again. */
  readonly longestStallMs: number;
  /** The same of calls from one node to another. */
  readonly longestStallAcrossNodesMs: number;
  /** Failed calls of that time, by code. Those that timed out have got lost without anybody knowing. */
  readonly failures: Readonly<Record<string, number>>;
  /** Whether another session got the name that it tried to take. */
  readonly nameTaken: boolean;
}

/** What came of a run. Times in milliseconds. */
export interface FaultReport {
  readonly seconds: number;
  readonly leaseMs: number;
  readonly sessions: number;
  readonly calls: number;
  readonly results: number;
  /** Failed calls by code. */
  readonly failures: Readonly<Record<string, number>>;
  readonly longestCallMs: number;
  readonly longestStallMs: number;
  readonly reconnects: number;
  /** How long the test itself did nothing; what it measures is no better. */
  readonly longestOwnDelayMs: number;
  readonly faults: readonly FaultOutcome[];
  /** Warnings and errors in the logs of the nodes, by message. */
  readonly logged: Readonly<Record<string, number>>;
  /** What does not hold. */
  readonly problems: readonly string[];
}

/** The report for people. */
export function formatReport(report: FaultReport): string {
  const { faults, failures, logged, problems } = report;
  return [
    `${report.calls} calls of ${report.sessions} sessions in ${report.seconds} s, lease ${report.leaseMs} ms`,
    `  results        ${report.results}`,
    ...counts('failed with', failures),
    `  longest call   ${report.longestCallMs} ms`,
    `  longest stall  ${report.longestStallMs} ms without any result`,
    `  reconnects     ${report.reconnects}`,
    `  own delay      ${report.longestOwnDelayMs} ms at most`,
    '',
    row(['fault', 'at', 'node', 'took', 'served again', 'stall', 'across nodes', 'timed out', 'name taken']),
    ...faults.map(faultRow),
    '',
    ...counts('logged', logged),
    problems.length === 0 ? 'Everything holds.' : 'What does not hold:',
    ...problems.map((problem) => `  ${problem}`),
  ].join('\n');
}

function faultRow(outcome: FaultOutcome): string {
  const { fault, node, nameTaken, failures, ...times } = outcome;
  const { atMs, tookMs, servedAgainMs, longestStallMs, longestStallAcrossNodesMs } = times;
  const [at, ...others] = [atMs, tookMs, servedAgainMs, longestStallMs, longestStallAcrossNodesMs].map(
    (ms) => `${(ms / 1_000).toFixed(1)} s`,
  );
  const timedOut = String(failures['call-timeout'] ?? 0);
  return row([fault, at ?? '', String(node), ...others, timedOut, nameTaken ? 'yes' : 'no']);
}

function row([first = '', ...others]: readonly string[]): string {
  return `  ${first.padEnd(24)}${others.map((cell) => cell.padStart(14)).join('')}`;
}

function counts(title: string, of: Readonly<Record<string, number>>): string[] {
  return Object.entries(of).map(([what, count]) => `  ${title} ${what}: ${count}`);
}
