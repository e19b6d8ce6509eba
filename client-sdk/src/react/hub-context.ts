import { createContext, useContext } from 'react';
import type { HubState } from '../hub-state.js';
import type { Hub } from '../hub.js';
import type { Turns } from './turns.js';

/** Where the session of a `HubProvider` stands. */
export interface HubStatus {
  /** The session; `undefined` until it has been opened. */
  readonly hub: Hub | undefined;
  readonly state: HubState;
  /** Why it could not be opened, was lost, or has ended; gone when it is open again. */
  readonly error: Error | undefined;
}

/** What a provider gives to the hooks below it. */
export interface Provided {
  readonly status: HubStatus;
  readonly turns: Turns;
}

export const HubContext = createContext<Provided | undefined>(undefined);

/** The session of the `HubProvider` above. @throws {Error} there is none above */
export function useHub(): HubStatus {
  return useProvided('useHub').status;
}

/** What the provider above gives. @throws {Error} there is none above */
export function useProvided(hook: string): Provided {
  const provided = useContext(HubContext);
  if (provided === undefined) throw new Error(`${hook}: there is no HubProvider above`);
  return provided;
}
