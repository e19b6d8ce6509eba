/**
 * The ids of the calls of one request. Ours are unique within a run; this provider refuses a conversation of
 * several runs that has one twice, and characters that the ids of another provider may hold. The same
 * conversation gives the same ids again.
 */
export class AnthropicCallIds {
  readonly #used = new Set<string>();
  #step = new Map<string, string>();

  /** Begins the next step: results belong to the calls of the step before them. */
  beginStep(): void {
    this.#step = new Map();
  }

  /** The id of a call of this step, as it was given where that is possible. */
  add(callId: string): string {
    const legal = callId.replace(/[^a-zA-Z0-9_-]/gu, '_') || 'call';
    let id = legal;
    for (let count = 2; this.#used.has(id); count += 1) id = `${legal}_${count}`;
    this.#used.add(id);
    this.#step.set(callId, id);
    return id;
  }

  /** The id of the call that a result answers. */
  of(callId: string): string {
    return this.#step.get(callId) ?? callId;
  }
}
