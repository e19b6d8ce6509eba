/** One rule of the wire, and how to find out whether a hub or a client keeps it. */
export interface Rule<Subject> {
  /** The id of the behaviour in the project's manifest, such as `WIRE-06`. */
  readonly id: string;
  /** What holds, in one sentence. */
  readonly title: string;
  /** The heading of protocol/README.md that specifies it. */
  readonly where: string;
  /** The time that the check may take, in milliseconds. @default 20 000 */
  readonly deadlineMs?: number;
  /** Checked first: when it fails, every other rule is skipped. @default false */
  readonly isPrerequisite?: boolean;
  /** Checked only when asked for, because it waits for a timer of many seconds. @default false */
  readonly isSlow?: boolean;
  /**
   * Ends when the rule holds.
   * @throws {RuleFailure} it does not hold
   * @throws {RuleSkipped} it cannot be judged here
   */
  check(subject: Subject): Promise<void>;
}

/** What a rule may say about its check beside the check itself. */
export type RuleOptions = Pick<Rule<unknown>, 'deadlineMs' | 'isPrerequisite' | 'isSlow'>;

/** A rule does not hold. */
export class RuleFailure extends Error {
  override readonly name = 'RuleFailure';

  constructor(
    /** What the specification wants here, in words. */
    readonly expected: string,
    /** What came instead. */
    readonly received: string,
  ) {
    super(`expected ${expected}, received ${received}`);
  }
}

/** A rule cannot be judged: something optional is missing. The message says what. */
export class RuleSkipped extends Error {
  override readonly name = 'RuleSkipped';
}
