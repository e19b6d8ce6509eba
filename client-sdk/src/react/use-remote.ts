import { useEffect, useMemo, useRef, useState } from 'react';
import { HubError } from '../errors.js';
import type { FunctionDefinitions } from '../functions.js';
import type { Hub, ServedRemote } from '../hub.js';
import type { ServeOptions } from '../options.js';
import { serveLasting } from '../serve-lasting.js';
import { definitionsOf, freshFunctions, specKey } from './fresh-functions.js';
import { useProvided, type HubStatus } from './hub-context.js';
import { useLatest } from './latest.js';

/** How a remote that a component serves is doing. */
export interface RemoteStatus {
  readonly status: 'connecting' | 'connected' | 'failed';
  /** With `failed`: why, and nothing more is tried. A `HubError`, or a `TypeError` or `RangeError` that names a wrong field. */
  readonly error: unknown;
  /** What the hub does not enforce of it. */
  readonly warnings: readonly string[];
}

const connecting: RemoteStatus = { status: 'connecting', error: undefined, warnings: [] };

/**
 * Serves functions as a remote while the component is mounted. Their handlers are always those of the last render; the
 * remote is connected anew only when its name, or what the hub is told of its functions, has become another: calls in
 * flight may finish then. Unmounting ends them: their `signal` aborts.
 */
export function useRemote<Schemas>(
  remotename: string,
  functions: FunctionDefinitions<Schemas>,
  options: ServeOptions = {},
): RemoteStatus {
  const { status: session, turns } = useProvided('useRemote');
  const { hub } = session;
  const latest = useLatest(useMemo(() => definitionsOf(functions), [functions]));
  const key = useMemo(() => specKey(functions), [functions]);
  const [outcome, setOutcome] = useState(connecting);
  const isMounted = useIsMounted();
  const { resumeMs = 0 } = options;
  useEffect(() => {
    if (hub === undefined) return undefined;
    let isCurrent = true;
    let unfollow = (): void => undefined;
    setOutcome(connecting);
    const tell = (told: RemoteStatus): void => {
      if (isCurrent) setOutcome(told);
    };
    const served = turns.take(hub, remotename, () =>
      serveLasting(hub, remotename, freshFunctions(latest), { resumeMs }, () => isCurrent),
    );
    served.then(
      (remote) => {
        if (remote !== undefined && isCurrent) unfollow = followRemote(hub, remote, tell);
      },
      (error: unknown) => tell(failed(error)),
    );
    return () => {
      isCurrent = false;
      unfollow();
      const drain = isMounted.current;
      const disconnect = async (): Promise<void> => (await served)?.disconnect({ drain });
      // What was not served needs no end, and what cannot be disconnected ends with the session.
      turns.take(hub, remotename, disconnect).catch(() => undefined);
    };
  }, [hub, remotename, key, resumeMs, turns, latest, isMounted]);
  return useMemo(() => inSession(session, outcome), [session, outcome]);
}

/** Tells what becomes of a remote that was connected. */
function followRemote(hub: Hub, remote: ServedRemote, tell: (told: RemoteStatus) => void): () => void {
  const { remotename, warnings } = remote;
  tell({ status: 'connected', error: undefined, warnings });
  const listeners = [
    hub.on('serve-failed', ({ remotename: name, code, message }) => {
      if (name === remotename) tell(failed(new HubError({ code, message })));
    }),
    hub.on('remote-disconnected', ({ remotename: name }) => {
      if (name !== remotename || remote.isConnected) return;
      const message = `somebody has disconnected the remote '${remotename}'`;
      tell(failed(new HubError({ code: 'remote-disconnected', message })));
    }),
  ];
  return () => {
    for (const remove of listeners) remove();
  };
}

function failed(error: unknown): RemoteStatus {
  return { status: 'failed', error, warnings: [] };
}

/** A session that is not open serves nothing, whatever came of it before. */
function inSession({ state, error }: HubStatus, outcome: RemoteStatus): RemoteStatus {
  if (state === 'closed') return failed(error);
  return state === 'open' || outcome.status === 'failed' ? outcome : connecting;
}

/** Tells the cleanup of a later effect whether the component goes on. */
function useIsMounted(): { readonly current: boolean } {
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return isMounted;
}
