import type { AgentId, Credentials, JsonObject, JsonValue, LintReport } from '@remotes-hub/protocol';
import {
  MAX_FUNCTIONS_PER_REMOTE,
  MAX_INSTRUCTION_LENGTH,
  MAX_NAME_LENGTH,
  REMOTE_CALL_TIMEOUT_MS,
} from '@remotes-hub/protocol/limits';
import { PendingRequests } from './calls.js';
import { checkClose, checkInteger, checkName, checkText } from './checks.js';
import { ConnectionLife } from './connection-life.js';
import { currentCredentials, parseCredentials } from './credentials.js';
import { HubError, lostConnection, type Close } from './errors.js';
import {
  EventListeners,
  isEventBody,
  isEventName,
  isHubEvent,
  isRunEvent,
  type HubEventName,
  type HubEvents,
} from './events.js';
import { parseFunctions, type FunctionDefinitions } from './functions.js';
import type { HubState, StateChange } from './hub-state.js';
import type { Hub, ServedRemote } from './hub.js';
import {
  type CallOptions,
  type ConnectSettings,
  type DisconnectOptions,
  type LintOptions,
  type ServeOptions,
} from './options.js';
import { callRemote } from './remote-call.js';
import { remoteProxy, type RemoteProxy } from './remote-proxy.js';
import {
  readAgents,
  readLint,
  readRemotes,
  readReplay,
  readWarnings,
  type AgentDescription,
  type Login,
  type RemoteDescription,
  type RunReplay,
} from './replies.js';
import { Requests, sendRequest } from './requests.js';
import { Runs, promptedRun, type PromptOptions, type PromptedRun, type Run } from './runs.js';
import { Serving, type Served } from './serve.js';

/** A remote is served again when the connection is back, or when the hub is not cut off any more. */
const passingCodes: readonly string[] = ['connection-lost', 'backplane-unavailable'];

/** Time until a hub that was cut off is asked again to connect a remote, in milliseconds. */
const SERVE_AGAIN_MS = 1_000;

/** A session at a hub over all its connections: gives each message of the hub to the part that it is for. */
export class HubSession implements Hub {
  readonly #life: ConnectionLife;
  readonly #pending = new PendingRequests();
  readonly #requests: Requests;
  readonly #serving: Serving;
  readonly #runs = new Runs();
  readonly #listeners = new EventListeners();
  userId = '';
  sessionId = '';
  expiresAt: number | undefined;

  constructor(settings: ConnectSettings) {
    this.#life = new ConnectionLife(settings, this.#pending, {
      received: (message) => this.#received(message),
      loggedIn: (login, isNew) => this.#loggedIn(login, isNew),
      stateChanged: (change) => this.#stateChanged(change),
      lost: (close, isFinal) => this.#lost(close, isFinal),
    });
    this.#requests = new Requests(this.#life, this.#pending);
    this.#serving = new Serving(this.#life);
  }

  get state(): HubState {
    return this.#life.state;
  }

  get isOpen(): boolean {
    return this.#life.isOpen;
  }

  get closed(): Promise<Close> {
    return this.#life.closed;
  }

  /** Opens the first connection. @throws {HubError} */
  async open(): Promise<void> {
    await this.#life.open();
  }

  async serve<Schemas>(
    remotename: string,
    functions: FunctionDefinitions<Schemas>,
    { resumeMs = 0 }: ServeOptions = {},
  ): Promise<ServedRemote> {
    checkName(remotename, 'remotename');
    checkInteger(resumeMs, 'resumeMs', 0, 30_000);
    const served: Served = {
      remotename,
      functions: parseFunctions(functions),
      resumeMs,
      isConnected: false,
      isWanted: false,
    };
    if (served.functions.size > MAX_FUNCTIONS_PER_REMOTE) {
      throw new RangeError(
        `functions: expected at most ${MAX_FUNCTIONS_PER_REMOTE}, got ${served.functions.size}`,
      );
    }
    await this.#life.whenOpen(REMOTE_CALL_TIMEOUT_MS);
    const warnings = await this.#connectRemote(served);
    const disconnect = async (options: DisconnectOptions = {}): Promise<void> => {
      if (!this.#serving.isServing(served)) return;
      if (this.isOpen) await this.#disconnectOwn(served, options);
      else this.#serving.disconnected(remotename); // it is just not served again
    };
    return {
      remotename,
      warnings,
      get isConnected() {
        return served.isConnected;
      },
      disconnect,
      [Symbol.asyncDispose]: () => disconnect(),
    };
  }

  call(
    remotename: string,
    functionName: string,
    args: object = {},
    options: CallOptions = {},
  ): Promise<JsonValue> {
    return callRemote(this.#life, this.#pending, { remotename, functionName, args, options });
  }

  remote<Service = unknown>(remotename: string, options: CallOptions = {}): RemoteProxy<Service> {
    return remoteProxy<Service>(this, remotename, options);
  }

  async list(): Promise<readonly RemoteDescription[]> {
    return this.#requests.send('remote-list', undefined, readRemotes);
  }

  async lint(remotename: string, { prefix }: LintOptions = {}): Promise<LintReport> {
    checkName(remotename, 'remotename');
    if (prefix !== undefined) checkText(prefix, 'prefix', 0, MAX_NAME_LENGTH);
    return this.#requests.send('remote-lint', { remotename, prefix }, readLint);
  }

  async disconnect(remotename: string, { drain = false }: DisconnectOptions = {}): Promise<void> {
    checkName(remotename, 'remotename');
    if (typeof drain !== 'boolean') throw new TypeError('drain: expected a boolean');
    await this.#requests.send(
      'remote-disconnect',
      drain ? { remotename, drain } : { remotename },
      (reply) => {
        this.#serving.disconnected(remotename);
        return reply;
      },
    );
  }

  async agents(): Promise<readonly AgentDescription[]> {
    return this.#requests.send('agent-list', undefined, readAgents);
  }

  prompt(agentId: AgentId, instruction: string, options: PromptOptions = {}): PromptedRun {
    return promptedRun(this.#prompt(agentId, instruction, options));
  }

  async run(runId: string): Promise<Run> {
    checkText(runId, 'runId', 1, MAX_NAME_LENGTH);
    return this.#runs.join(
      runId,
      () => this.#cancelRun(runId),
      () => this.#replay(runId),
    );
  }

  async ping(): Promise<number> {
    const start = performance.now();
    await this.#requests.send('ping', undefined, (reply) => reply);
    return performance.now() - start;
  }

  async authenticate(credentials: Credentials): Promise<void> {
    const parsed = await currentCredentials(parseCredentials(credentials));
    await this.#life.whenOpen(REMOTE_CALL_TIMEOUT_MS);
    await this.#life.authenticate(parsed);
  }

  on<Name extends HubEventName>(event: Name, listener: (body: HubEvents[Name]) => unknown): () => void {
    if (!isEventName(event)) throw new TypeError(`event: there is none named '${String(event)}'`);
    if (typeof listener !== 'function') throw new TypeError('listener: expected a function');
    return this.#listeners.on(event, listener);
  }

  async close(code = 1000, reason = ''): Promise<void> {
    checkClose(code, reason);
    await this.#life.close(code, reason);
  }

  /** Ends the connection now, without waiting for the hub, and for good. */
  cut(reason: string): void {
    this.#life.cut(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #connectRemote(served: Served): Promise<readonly string[]> {
    const { remotename, functions, resumeMs } = served;
    if (!this.#serving.connecting(served)) {
      throw new HubError({
        code: 'remote-already-connected',
        message: `remote '${remotename}' is already connected`,
      });
    }
    const tools = [...functions.values()].map(({ spec }) => spec);
    try {
      return await sendRequest(this.#life, this.#pending, {
        action: 'remote-connect',
        body: resumeMs === 0 ? { remotename, tools } : { remotename, tools, resumeMs },
        read: (reply) => {
          this.#serving.connected(served); // before the next message, which may be a call
          return readWarnings(reply);
        },
      });
    } catch (error) {
      this.#serving.refused(served, error instanceof HubError && passingCodes.includes(error.code));
      throw error;
    }
  }

  async #serveAgain(served: Served): Promise<void> {
    if (!this.#serving.isServing(served)) return;
    try {
      await this.#connectRemote(served);
    } catch (error) {
      if (!(error instanceof HubError)) return;
      const { code, message } = error;
      // without a connection there will be another one, and all is served again then
      const later = (): void => void this.#serveAgain(served);
      if (this.#serving.isServing(served)) this.#serving.later(SERVE_AGAIN_MS, later);
      else this.#listeners.emit('serve-failed', { remotename: served.remotename, code, message });
    }
  }

  async #prompt(agentId: AgentId, instruction: string, options: PromptOptions): Promise<Run> {
    if (typeof agentId === 'string') checkText(agentId, 'agentId', 1, MAX_NAME_LENGTH);
    else checkInteger(agentId, 'agentId', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    checkText(instruction, 'instruction', 1, MAX_INSTRUCTION_LENGTH);
    return this.#requests.send('send-agent-prompt', { agentId, instruction, options }, ({ runId }) => {
      if (typeof runId !== 'string') return undefined;
      return this.#runs.start(runId, () => this.#cancelRun(runId));
    });
  }

  #cancelRun(runId: string): Promise<unknown> {
    return this.#requests.send('run-cancel', { runId }, (reply) => reply);
  }

  #replay(runId: string): Promise<RunReplay> {
    return this.#requests.send('run-get', { runId }, readReplay);
  }

  /** From now on it is not served again, even if the hub's reply is lost. */
  async #disconnectOwn(served: Served, options: DisconnectOptions): Promise<void> {
    served.isWanted = false;
    try {
      await this.disconnect(served.remotename, options);
    } catch (error) {
      const isGone =
        error instanceof HubError &&
        (error.code === 'remote-not-connected' || error.code === 'connection-lost');
      if (!isGone) {
        served.isWanted = served.isConnected;
        throw error;
      }
      served.isConnected = false;
      this.#serving.refused(served, false);
    }
  }

  #received(message: JsonObject): void {
    const { action } = message;
    if (action === undefined) this.#pending.reply(message);
    else if (action === 'remote-call') this.#serving.called(message);
    else if (action === 'remote-call-cancel') this.#serving.cancelled(message);
    else if (action === 'remote-call-progress') this.#pending.progress(message);
    else this.#happened(message);
  }

  #happened(message: JsonObject): void {
    const { action, body } = message;
    if (!isHubEvent(action)) return;
    if (isRunEvent(message)) this.#runs.received(message);
    if (action === 'remote-disconnected' && isEventBody(action, body)) {
      this.#serving.disconnectedElsewhere(body.remotename);
    }
    this.#listeners.emit(action, body);
  }

  /** What is served goes first, in its order: whoever waits for a call finds it there. */
  #loggedIn({ userId, sessionId, expiresAt, isResumed }: Login, isNew: boolean): void {
    this.userId = userId;
    this.sessionId = sessionId;
    this.expiresAt = expiresAt;
    if (!isNew) return;
    for (const served of this.#serving.reconnected(isResumed)) void this.#serveAgain(served);
    this.#runs.reconnected((runId) => this.#replay(runId));
  }

  #stateChanged(change: StateChange): void {
    this.#listeners.emit('state', change);
  }

  #lost(close: Close, isFinal: boolean): void {
    const failure = lostConnection(close);
    this.#pending.failAll(failure);
    if (!isFinal) return this.#serving.lost(failure);
    this.#serving.ended(failure);
    this.#runs.ended(failure);
    this.#listeners.emit('close', close);
    this.#listeners.clear();
  }
}
