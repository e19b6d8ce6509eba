import type { Hub } from '../hub.js';

/**
 * Has the tasks of one remote's name at one hub run one after the other: a name is free again before the next component
 * takes it. A task begins after the caller is through, so that what StrictMode mounts for a moment can still be called off.
 */
export class Turns {
  readonly #lasts = new WeakMap<Hub, Map<string, Promise<void>>>();

  take<Result>(hub: Hub, remotename: string, task: () => Promise<Result>): Promise<Result> {
    const lasts = this.#lasts.get(hub) ?? new Map<string, Promise<void>>();
    this.#lasts.set(hub, lasts);
    const result = (lasts.get(remotename) ?? Promise.resolve()).then(task);
    const forget = (): void => {
      if (lasts.get(remotename) === last) lasts.delete(remotename);
    };
    const last = result.then(forget, forget);
    lasts.set(remotename, last);
    return result;
  }
}
