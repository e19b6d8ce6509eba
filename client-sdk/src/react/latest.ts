import { useInsertionEffect, useRef } from 'react';

/** The value of the render that is shown. To be read in effects and handlers, not while rendering. */
export function useLatest<Value>(value: Value): { readonly current: Value } {
  const latest = useRef(value);
  useInsertionEffect(() => {
    latest.current = value;
  });
  return latest;
}
