import type { JsonValue } from '@remotes-hub/protocol';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { RemoteError } from '../errors.js';
import type { CallOptions } from '../options.js';
import { useProvided } from './hub-context.js';

interface CallView {
  /** The result of the last call that gave one. */
  readonly data: JsonValue | undefined;
  /** Why the last call gave none: a `RemoteError`, or a `TypeError`; a cancelled call has none. */
  readonly error: unknown;
  readonly isPending: boolean;
  /** What the handler of the pending call reported last. */
  readonly progress: unknown;
}

/** Calls of one function, of which the last one counts. */
export interface Calling extends CallView {
  /**
   * Calls the function, and cancels a call before that is still pending. Who does not use the promise need not catch its
   * rejection: `error` tells it too.
   * @throws {RemoteError} as `hub.call`; `connection-lost` while there is no session yet
   */
  readonly call: (args?: object, options?: Omit<CallOptions, 'signal'>) => Promise<JsonValue>;
  /** Cancels the pending call: its handler's `signal` aborts. */
  readonly cancel: () => void;
}

const idle: CallView = { data: undefined, error: undefined, isPending: false, progress: undefined };

/** Calls a function of a remote, and cancels what is pending when the component is unmounted. */
export function useCall(remotename: string, functionName: string): Calling {
  const { hub } = useProvided('useCall').status;
  const [view, setView] = useState(idle);
  const current = useRef<AbortController>(undefined);
  useEffect(() => {
    setView(idle);
    return () => {
      current.current?.abort();
      current.current = undefined;
    };
  }, [hub, remotename, functionName]);
  const call = useCallback(
    (args: object = {}, options: Omit<CallOptions, 'signal'> = {}): Promise<JsonValue> => {
      const abort = new AbortController();
      const { signal } = abort;
      current.current?.abort();
      current.current = abort;
      const change = (changed: Partial<CallView>): void => {
        if (current.current === abort) setView((before) => ({ ...before, ...changed }));
      };
      const onProgress = (progress: unknown): void => {
        change({ progress });
        options.onProgress?.(progress);
      };
      change({ error: undefined, isPending: true, progress: undefined });
      const result =
        hub === undefined
          ? Promise.reject(notConnected(remotename, functionName))
          : hub.call(remotename, functionName, args, { ...options, signal, onProgress });
      result.then(
        (data) => change({ data, isPending: false }),
        (error: unknown) => change({ error: signal.aborted ? undefined : error, isPending: false }),
      );
      return result;
    },
    [hub, remotename, functionName],
  );
  const cancel = useCallback(() => current.current?.abort(), []);
  return useMemo(() => ({ ...view, call, cancel }), [view, call, cancel]);
}

function notConnected(remotename: string, functionName: string): RemoteError {
  const message = 'the session is not open yet';
  return new RemoteError(
    { code: 'connection-lost', message, executed: 'no', retryable: true },
    remotename,
    functionName,
  );
}
