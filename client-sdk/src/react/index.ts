'use client';
export { HubProvider, type HubProviderProps } from './hub-provider.js';
export { useHub, type HubStatus } from './hub-context.js';
export { useRemote, type RemoteStatus } from './use-remote.js';
export { useRemotes, type RemotesView } from './use-remotes.js';
export { useCall, type Calling } from './use-call.js';
export { useRun, type Prompting } from './use-run.js';
