import type { RequestListener, Server } from 'node:http';
import type { ModelFactory } from './agents/models/create-model.js';
import type { AuthenticateFunction } from './authentication/custom-authenticator.js';
import type { HostProgram } from './calls/host-program.js';
import type { HubConfigInput } from './config/config-schema.js';
import type { LoadedConfig } from './config/load-config.js';
import type { Logger } from './observability/logger.js';
import type { ListeningAddress } from './transport/http-listener.js';

/** How a hub is made. */
export interface HubOptions {
  /** As in the configuration file. Secret references (`env:NAME`) are resolved. @default {} */
  readonly config?: HubConfigInput;
  /** A configuration that was loaded already, in place of `config`. */
  readonly loaded?: LoadedConfig;
  /** Tells who holds the credentials, in place of `config.auth`. */
  readonly authenticate?: AuthenticateFunction;
  /** Makes the models of agents, in place of the providers that a configuration can name. */
  readonly createModel?: ModelFactory;
  /** @default JSON lines on standard output, at `config.log.level` */
  readonly log?: Logger;
}

/** How much a hub holds; for operators and tests. */
export interface HubCounts {
  readonly sessions: number;
  readonly unauthenticated: number;
  readonly remotes: number;
  /** Sessions and host remotes that serve, and lost sessions whose calls wait for their instance. */
  readonly providers: number;
  readonly callers: number;
  readonly pendingCalls: number;
  readonly runs: number;
  /** Messages dropped without an answer, since the start. */
  readonly ignoredMessages: number;
}

/** A hub: sessions, their remotes, calls and runs. */
export interface Hub extends AsyncDisposable, Pick<HostProgram, 'connectRemote' | 'listRemotes' | 'call'> {
  /**
   * Loads the modules of native tools, and listens by itself.
   * @default the configuration's host and port; port 0 picks a free one
   * @throws {ConfigError} a module cannot be used
   */
  listen(address?: { readonly host?: string; readonly port?: number }): Promise<ListeningAddress>;
  /** Answers the upgrades of an HTTP server of the host program's own; other paths are left to it. */
  attach(server: Server): void;
  /** The HTTP endpoints, to be mounted in a server of the host program's own. */
  readonly requestListener: RequestListener;
  /** A token of this hub for a user. @param ttlMs milliseconds */
  issueToken(userId: string, ttlMs?: number): Promise<{ readonly token: string; readonly expiresAt: number }>;
  counts(): HubCounts;
  /** The metrics of this hub in the text format of Prometheus, whether or not the configuration has it serve them. */
  metrics(): Promise<string>;
  /** Refuses newcomers, fails what is pending, closes every session with 1001 and a hint when to come back; within seconds. */
  close(): Promise<void>;
}
