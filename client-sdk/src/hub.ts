import type { AgentId, Credentials, JsonValue, LintReport } from '@remotes-hub/protocol';
import type { AgentDescription, RemoteDescription } from './replies.js';
import type { HubEventName, HubEvents } from './events.js';
import type { Close } from './errors.js';
import type { FunctionDefinitions } from './functions.js';
import type { HubState } from './hub-state.js';
import type { CallOptions, DisconnectOptions, LintOptions, ServeOptions } from './options.js';
import type { RemoteProxy } from './remote-proxy.js';
import type { PromptOptions, PromptedRun, Run } from './runs.js';

/** A remote that this session serves. */
export interface ServedRemote extends AsyncDisposable {
  readonly remotename: string;
  /** Whether it is connected now: not while there is no connection, nor when somebody has disconnected it. */
  readonly isConnected: boolean;
  /** What the hub cannot do of what was asked, such as a pattern that it does not enforce. */
  readonly warnings: readonly string[];
  /** Ends it. Harmless when it has ended. @throws {HubError} */
  disconnect(options?: DisconnectOptions): Promise<void>;
}

/**
 * A session at a hub: what `connect` gives. It lives until {@link Hub.close}, or until the hub wants it no more;
 * a connection that is lost is opened anew, with everything served again. What is asked meanwhile waits. Every method rejects with `HubError` (`call` with `RemoteError`) when the
 * hub refuses or the connection is lost before the reply, and with `TypeError` or `RangeError` when it is misused.
 */
export interface Hub extends AsyncDisposable {
  /** The user as whom this session is logged in. */
  readonly userId: string;
  /** Another one after each reconnect. */
  readonly sessionId: string;
  /** When the session ends, in milliseconds since 1970; `undefined` when it never does. */
  readonly expiresAt: number | undefined;
  /** Where the connection stands; changes are told by the event `state`. */
  readonly state: HubState;
  /** Whether messages can be sent now. */
  readonly isOpen: boolean;
  /** Resolves when the session has ended for good, however; never rejects. */
  readonly closed: Promise<Close>;

  /**
   * Serves functions under a name, unique among the user's remotes, until the session ends.
   * @throws {HubError} `remote-already-connected`, `invalid-schema`, `too-many-remotes`, `message-too-large`
   */
  serve<Schemas>(
    remotename: string,
    functions: FunctionDefinitions<Schemas>,
    options?: ServeOptions,
  ): Promise<ServedRemote>;

  /**
   * Runs a function of a connected remote of this user, whichever session serves it.
   * @throws {RemoteError} any failure; `executed` tells whether the function ran
   * @throws {TypeError} `args` hold what JSON cannot
   */
  call(remotename: string, functionName: string, args?: object, options?: CallOptions): Promise<JsonValue>;

  /**
   * The functions of a remote as typed methods, `name(args?, options?)`, which do what {@link Hub.call} does. The
   * remote need not be connected yet. `Service` is believed, not checked.
   * @typeParam Service `typeof` what it serves (see `defineFunctions`), or an interface of methods
   * @param options of every call; those of a call itself win
   * @throws {TypeError | RangeError} at once, naming the field
   * @see README.md, "Types"
   */
  remote<Service = unknown>(remotename: string, options?: CallOptions): RemoteProxy<Service>;

  /** The remotes that are connected for this user, in order of connection. */
  list(): Promise<readonly RemoteDescription[]>;

  /**
   * Tells how the functions of a remote reach models: which names and schemas a provider is sent otherwise, which
   * functions it cannot be sent at all, and what would help.
   * @throws {HubError} `remote-not-connected`
   */
  lint(remotename: string, options?: LintOptions): Promise<LintReport>;

  /** Disconnects a remote of this user, whichever session serves it. @throws {HubError} `remote-not-connected` */
  disconnect(remotename: string, options?: DisconnectOptions): Promise<void>;

  /** The agents that can be prompted. */
  agents(): Promise<readonly AgentDescription[]>;

  /**
   * Prompts an agent. Await it for the {@link Run}, or iterate it for the events at once.
   * @throws {HubError} `agent-not-found`, `rate-limited`
   */
  prompt(agentId: AgentId, instruction: string, options?: PromptOptions): PromptedRun;

  /**
   * Joins a run of this user late, whichever session prompted it: its events so far, then those to come, without
   * gaps and none twice. Of a very long run the oldest are gone; a run that has ended is kept for some minutes.
   * @throws {HubError} `run-not-found`
   */
  run(runId: string): Promise<Run>;

  /** Asks whether the hub is there. Gives the time it took, in milliseconds. */
  ping(): Promise<number>;

  /**
   * Logs in again as the same user, to extend the session.
   * @throws {HubError} `invalid-credentials`; the session lives on
   */
  authenticate(credentials: Credentials): Promise<void>;

  /** Listens to an event; the function returned ends that. What a listener throws goes to the console. */
  on<Name extends HubEventName>(event: Name, listener: (body: HubEvents[Name]) => unknown): () => void;

  /**
   * Closes the session: its remotes disconnect, its calls in flight fail, its handlers' signals abort. Harmless
   * when it is closed.
   * @param code 1000, or 3000 to 4999
   * @param reason at most 123 bytes
   */
  close(code?: number, reason?: string): Promise<void>;
}
