import { useEffect, useState } from 'react';
import type { Hub } from '../hub.js';
import type { RemoteDescription } from '../replies.js';
import { useProvided } from './hub-context.js';

/** The remotes that are connected for this user. */
export interface RemotesView {
  /** In order of connection; those that were seen last while the session is being opened anew. */
  readonly remotes: readonly RemoteDescription[];
  /** Whether they have not been read yet. */
  readonly isPending: boolean;
  /** Why they could not be read the last time. */
  readonly error: unknown;
}

const pending: RemotesView = { remotes: [], isPending: true, error: undefined };

/** The remotes of this user, kept up to date while the component is mounted. */
export function useRemotes(): RemotesView {
  const { hub, state } = useProvided('useRemotes').status;
  const [view, setView] = useState<{ readonly hub: Hub | undefined; readonly view: RemotesView }>({
    hub: undefined,
    view: pending,
  });
  const isOpen = state === 'open';
  useEffect(() => {
    if (hub === undefined || !isOpen) return undefined;
    return followRemotes(hub, (change) =>
      setView((before) => ({ hub, view: { ...(before.hub === hub ? before.view : pending), ...change } })),
    );
  }, [hub, isOpen]);
  return view.hub === hub ? view.view : pending;
}

/** Reads the list now and after every change; changes during a reading lead to one more. */
function followRemotes(hub: Hub, tell: (change: Partial<RemotesView>) => void): () => void {
  let isFollowing = true;
  let isReading = false;
  let isStale = false;
  const readOnce = async (): Promise<void> => {
    try {
      const remotes = await hub.list();
      if (isFollowing) tell({ remotes, isPending: false, error: undefined });
    } catch (error) {
      if (isFollowing) tell({ isPending: false, error });
    }
  };
  const read = async (): Promise<void> => {
    isStale = true;
    if (isReading) return;
    isReading = true;
    while (isStale) {
      isStale = false;
      await readOnce();
    }
    isReading = false;
  };
  const listeners = [hub.on('remote-connected', read), hub.on('remote-disconnected', read)];
  void read();
  return () => {
    isFollowing = false;
    isStale = false;
    for (const remove of listeners) remove();
  };
}
