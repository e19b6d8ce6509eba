import type { AgentId, Credentials, JsonObject, JsonValue, LintReport } from '@remotes-hub/protocol';
import {
  MAX_FUNCTIONS_PER_REMOTE,
  MAX_INSTRUCTION_LENGTH,
  MAX_NAME_LENGTH,
  SUBPROTOCOL,
} from '@remotes-hub/protocol/limits';
import { PendingRequests } from './calls.js';
import { Connection } from './connection.js';
import { HubError, lostConnection, type Close } from './errors.js';
import {
  EventListeners,
  isEventBody,
  isEventName,
  isRunEvent,
  type HubEventName,
  type HubEvents,
} from './events.js';
import { parseFunctions, type FunctionDefinitions } from './functions.js';
import type { Hub, ServedRemote } from './hub.js';
import {
  checkClose,
  checkInteger,
  checkName,
  checkText,
  parseCallOptions,
  parseCredentials,
  type CallOptions,
  type ConnectSettings,
  type DisconnectOptions,
  type LintOptions,
} from './options.js';
import { callRemote } from './remote-call.js';
import {
  readAgents,
  readLint,
  readLogin,
  readRemotes,
  readReplay,
  readWarnings,
  type AgentDescription,
  type RemoteDescription,
} from './replies.js';
import { REQUEST_TIMEOUT_MS, Requests } from './requests.js';
import { Runs, promptedRun, type PromptOptions, type PromptedRun, type Run } from './runs.js';
import { Serving } from './serve.js';

/** A session over one connection: gives each message of the hub to the part that it is for. */
export class HubSession implements Hub {
  readonly #connection: Connection;
  readonly #pending = new PendingRequests();
  readonly #requests: Requests;
  readonly #serving: Serving;
  readonly #runs = new Runs();
  readonly #listeners = new EventListeners();
  userId = '';
  sessionId = '';
  expiresAt: number | undefined;

  constructor({ WebSocket, url }: ConnectSettings) {
    this.#connection = new Connection(new WebSocket(url, SUBPROTOCOL), {
      received: (message) => this.#received(message),
      ended: (close) => this.#ended(close),
    });
    this.#requests = new Requests(this.#connection, this.#pending);
    this.#serving = new Serving(this.#connection);
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  get closed(): Promise<Close> {
    return this.#connection.closed;
  }

  /** How the connection ended, once it has. */
  get ending(): Close | undefined {
    return this.#connection.ending;
  }

  async serve<Schemas>(remotename: string, functions: FunctionDefinitions<Schemas>): Promise<ServedRemote> {
    checkName(remotename, 'remotename');
    const served = parseFunctions(functions);
    if (served.size > MAX_FUNCTIONS_PER_REMOTE) {
      throw new RangeError(`functions: expected at most ${MAX_FUNCTIONS_PER_REMOTE}, got ${served.size}`);
    }
    if (!this.#serving.connecting(remotename, served)) {
      throw new HubError({
        code: 'remote-already-connected',
        message: `remote '${remotename}' is already connected`,
      });
    }
    try {
      const tools = [...served.values()].map(({ spec }) => spec);
      const warnings = await this.#requests.send('remote-connect', { remotename, tools }, (reply) => {
        this.#serving.connected(remotename, true); // before the next message, which may be a call
        return readWarnings(reply);
      });
      const disconnect = async (options: DisconnectOptions = {}): Promise<void> => {
        if (this.#serving.isServing(remotename, served)) await this.#disconnectOwn(remotename, options);
      };
      return { remotename, warnings, disconnect, [Symbol.asyncDispose]: () => disconnect() };
    } catch (error) {
      this.#serving.connected(remotename, false);
      throw error;
    }
  }

  async call(
    remotename: string,
    functionName: string,
    args: object = {},
    options: CallOptions = {},
  ): Promise<JsonValue> {
    return callRemote(this.#connection, this.#pending, {
      remotename: checkName(remotename, 'remotename'),
      functionName: checkName(functionName, 'functionName'),
      args,
      options: parseCallOptions(options),
    });
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
      () => this.#requests.send('run-get', { runId }, readReplay),
    );
  }

  async ping(): Promise<number> {
    const start = performance.now();
    await this.#requests.send('ping', undefined, (reply) => reply);
    return performance.now() - start;
  }

  async authenticate(credentials: Credentials): Promise<void> {
    await this.logIn(parseCredentials(credentials), undefined, REQUEST_TIMEOUT_MS);
  }

  /** Sends `authenticate` once the socket is open, and keeps what the reply tells. */
  async logIn(credentials: Credentials, instanceId: string | undefined, timeoutMs: number): Promise<void> {
    const read = (reply: JsonObject): true | undefined => {
      const login = readLogin(reply);
      if (login === undefined) return undefined;
      this.userId = login.userId;
      this.sessionId = login.sessionId;
      this.expiresAt = login.expiresAt;
      this.#connection.maxMessageBytes = login.maxMessageBytes;
      return true;
    };
    await this.#connection.opened;
    if (!this.isOpen) await this.closed; // the hub closes already; its code and reason are about to come
    await this.#requests.send('authenticate', { ...credentials, instanceId }, read, timeoutMs);
  }

  on<Name extends HubEventName>(event: Name, listener: (body: HubEvents[Name]) => unknown): () => void {
    if (!isEventName(event)) throw new TypeError(`event: there is none named '${String(event)}'`);
    if (typeof listener !== 'function') throw new TypeError('listener: expected a function');
    return this.#listeners.on(event, listener);
  }

  async close(code = 1000, reason = ''): Promise<void> {
    checkClose(code, reason);
    await this.#connection.close(code, reason);
  }

  /** Ends the connection now, without waiting for the hub. */
  cut(reason: string): void {
    this.#connection.cut({ code: 1006, reason });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
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

  async #disconnectOwn(remotename: string, options: DisconnectOptions): Promise<void> {
    try {
      await this.disconnect(remotename, options);
    } catch (error) {
      const isGone =
        error instanceof HubError &&
        (error.code === 'remote-not-connected' || error.code === 'connection-lost');
      if (!isGone) throw error;
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
    if (!isEventName(action) || action === 'close') return;
    if (isRunEvent(message)) this.#runs.received(message);
    if (action === 'remote-disconnected' && isEventBody(action, body)) {
      this.#serving.disconnectedElsewhere(body.remotename);
    }
    this.#listeners.emit(action, body);
  }

  #ended(close: Close): void {
    const failure = lostConnection(close);
    this.#pending.failAll(failure);
    this.#serving.ended(failure);
    this.#runs.ended(failure);
    this.#listeners.emit('close', close);
    this.#listeners.clear();
  }
}
