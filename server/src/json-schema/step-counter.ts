/** What counts the work of a validation. */
export interface StepCounter {
  /** @throws {TooComplexError} when more than the allowed steps were spent */
  spend(steps: number): void;
}
