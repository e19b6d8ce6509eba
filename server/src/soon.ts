/** A value that is there already, or comes: one node alone never waits. */
export type Soon<T> = T | Promise<T>;

/** What follows from a value, at once when it is there. */
export function whenThere<T, R>(value: Soon<T>, follow: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then((come) => follow(come)) : follow(value);
}
