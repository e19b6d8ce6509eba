import { createElement, useEffect, useMemo, useState, type ReactElement, type ReactNode } from 'react';
import { connect } from '../connect.js';
import type { TokenSource } from '../credentials.js';
import type { Hub } from '../hub.js';
import type { ConnectOptions } from '../options.js';
import { HubContext, type HubStatus } from './hub-context.js';
import { followState, statusOf } from './follow-state.js';
import { useLatest } from './latest.js';
import { Turns } from './turns.js';

type WithoutSignal<Options> = Options extends unknown ? Omit<Options, 'signal'> : never;

/** How the provider connects: as `connect` does. */
type ConnectionProps = WithoutSignal<ConnectOptions> & {
  readonly url: string | URL;
  readonly hub?: undefined;
};

/** A session that the page opened itself, and closes itself. */
interface GivenHubProps {
  readonly hub: Hub;
}

/** What `HubProvider` takes: `url` with the options of `connect`, or a `hub`. */
export type HubProviderProps = { readonly children?: ReactNode } & (ConnectionProps | GivenHubProps);

const connecting: HubStatus = { hub: undefined, state: 'connecting', error: undefined };

/**
 * Opens a session while it is mounted and gives it to the hooks below; or gives them one that is ready, and leaves it
 * open. Another url, token or user opens another session; a token that is a function is always the one of the last render.
 * What went wrong is told by `useHub`; another `key` tries again.
 */
export function HubProvider(props: HubProviderProps): ReactElement {
  const { children } = props;
  const latest = useLatest(props);
  const [status, setStatus] = useState(() => (props.hub === undefined ? connecting : statusOf(props.hub)));
  const [turns] = useState(() => new Turns());
  const { hub } = props;
  const target = hub ?? targetOf(props);
  useEffect(() => {
    if (typeof target !== 'string') return followState(target, setStatus);
    return openWhileMounted(latest, setStatus);
  }, [target, latest]);
  const provided = useMemo(() => ({ status, turns }), [status, turns]);
  return createElement(HubContext.Provider, { value: provided }, children);
}

/** What makes it another session. */
function targetOf(props: HubProviderProps): string {
  if (props.hub !== undefined) return '';
  const { url, instanceId } = props;
  const credentials =
    'token' in props
      ? [typeof props.token === 'string' ? props.token : true]
      : [props.username, props.password];
  return JSON.stringify([String(url), instanceId, ...credentials]);
}

/** Connects, and gives what ends that. */
function openWhileMounted(
  latest: { readonly current: HubProviderProps },
  setStatus: (status: HubStatus) => void,
): () => void {
  setStatus(connecting);
  const abort = new AbortController();
  let end = (): void => undefined;
  const open = async (): Promise<void> => {
    if (abort.signal.aborted) return; // StrictMode has unmounted it again
    const hub = await openHub(latest, abort.signal);
    if (abort.signal.aborted) return hub.close();
    const unfollow = followState(hub, setStatus);
    end = () => {
      unfollow();
      void hub.close();
    };
  };
  Promise.resolve()
    .then(open)
    .catch((error: unknown) => {
      if (!abort.signal.aborted) setStatus({ hub: undefined, state: 'closed', error: toError(error) });
    });
  return () => {
    abort.abort();
    end();
  };
}

async function openHub(latest: { readonly current: HubProviderProps }, signal: AbortSignal): Promise<Hub> {
  const props = latest.current;
  if (props.hub !== undefined) return props.hub;
  if (!('token' in props) || typeof props.token !== 'function')
    return connect(props.url, { ...props, signal });
  const { token: first } = props;
  const token: TokenSource = () => {
    const now = latest.current;
    return 'token' in now && typeof now.token === 'function' ? now.token() : first();
  };
  return connect(props.url, { ...props, token, signal });
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
