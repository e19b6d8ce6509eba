import { AgentDirectory } from './agents/agent-directory.js';
import { Conversations } from './agents/conversations.js';
import { createModel } from './agents/models/create-model.js';
import { NativeToolSets } from './agents/native-tool-sets.js';
import { builtInTools } from './agents/native-tools.js';
import { Runs } from './agents/runs.js';
import { lintActions } from './actions/lint.js';
import { promptActions } from './actions/prompts.js';
import { remoteActions } from './actions/remotes.js';
import { sessionActions } from './actions/sessions.js';
import { readUsual } from './actions/usual-messages.js';
import type { BuiltInAuthenticator } from './authentication/built-in-authenticator.js';
import { countedLogins } from './authentication/counted-logins.js';
import { createAuthenticator } from './authentication/create-authenticator.js';
import type { Authenticator } from './authentication/authenticate.js';
import type { CustomAuthenticator } from './authentication/custom-authenticator.js';
import { CallTelemetry } from './calls/call-telemetry.js';
import { CallerCalls } from './calls/caller-calls.js';
import { Calls } from './calls/calls.js';
import { HostProgram } from './calls/host-program.js';
import { AskedCalls } from './cluster/asked-calls.js';
import type { Backplane } from './cluster/backplane.js';
import { CallRelay } from './cluster/call-relay.js';
import { createBackplane } from './cluster/create-backplane.js';
import { InstanceRelay } from './cluster/instance-relay.js';
import { Node } from './cluster/node.js';
import { Questions } from './cluster/questions.js';
import { RemoteDirectory } from './cluster/remote-directory.js';
import { RunsEverywhere } from './cluster/runs-everywhere.js';
import type { LoadedConfig } from './config/load-config.js';
import type { HubCounts, HubOptions } from './hub-interface.js';
import type { JsonFields } from './json/json-text.js';
import type { Logger } from './observability/logger.js';
import { HubMetrics } from './observability/metrics.js';
import { Tracing } from './observability/tracing.js';
import { RemoteRegistry } from './remotes/remote-registry.js';
import { SessionProviders } from './remotes/session-providers.js';
import { Dispatcher } from './sessions/dispatcher.js';
import { PerSession } from './sessions/per-session.js';
import { Reception } from './sessions/reception.js';
import { SessionDirectory } from './sessions/session-directory.js';
import type { Session } from './sessions/session.js';
import { whenThere } from './soon.js';

/** What the parts of a hub are made from. */
export interface HubPartsOptions extends Pick<HubOptions, 'authenticate' | 'createModel'> {
  readonly loaded: LoadedConfig;
  readonly log: Logger;
}

/**
 * What is behind the doors of a hub: sessions, remotes, calls and runs. Each part knows the others by interfaces of its
 * own; here alone they are made and handed to each other. A part may call one that is made after it, once all are.
 */
export class HubParts {
  readonly metrics = new HubMetrics();
  readonly authenticator: BuiltInAuthenticator | CustomAuthenticator;
  /** The same, with every attempt counted. */
  readonly logins: Authenticator;
  readonly backplane: Backplane;
  readonly questions: Questions;
  readonly sessions: SessionDirectory;
  readonly registry: RemoteRegistry;
  readonly directory: RemoteDirectory;
  readonly relay: CallRelay;
  readonly calls: Calls;
  readonly host: HostProgram;
  readonly conversations: Conversations;
  readonly nativeTools: NativeToolSets;
  readonly runs: Runs;
  readonly reception: Reception;
  readonly #options: HubPartsOptions;
  readonly #tracing = new Tracing();
  readonly #providers: SessionProviders;
  readonly #instances: InstanceRelay;
  readonly #callers: PerSession<CallerCalls>;
  readonly #dispatcher: Dispatcher;

  constructor(options: HubPartsOptions) {
    const { loaded, log, authenticate } = options;
    const { limits, agents } = loaded.config;
    const { calls } = this.metrics;
    this.#options = options;
    this.authenticator = createAuthenticator(authenticate, loaded, log);
    this.logins = countedLogins(this.authenticator, this.metrics.logins);
    this.backplane = createBackplane(loaded, log);
    this.questions = new Questions(this.backplane, log);
    this.sessions = this.#makeSessions();
    this.registry = this.#makeRegistry();
    this.directory = this.#makeDirectory();
    this.relay = new CallRelay(this.backplane, limits);
    this.calls = new Calls(this.registry, new CallTelemetry(calls, this.#tracing, log), this.relay);
    this.host = new HostProgram(this.directory, this.calls, limits, log);
    this.#providers = new SessionProviders(this.registry, (userId, instanceKey) =>
      this.#instances.forgotten(userId, instanceKey),
    );
    this.#instances = this.#makeInstances();
    this.#callers = new PerSession(
      () => new CallerCalls(limits.maxCallsInFlight, () => calls.refused('too-many-calls')),
    );
    this.conversations = new Conversations(limits);
    this.nativeTools = new NativeToolSets({ agents, builtIn: builtInTools(), limits, log });
    this.runs = this.#makeRuns();
    this.#dispatcher = this.#makeDispatcher();
    this.reception = this.#makeReception();
  }

  /** How much there is now. */
  counts(): HubCounts {
    const { remotes, providers, pendingCalls } = this.registry.counts();
    return {
      sessions: this.sessions.size,
      unauthenticated: this.reception.waiting,
      remotes,
      providers,
      callers: this.#callers.size,
      pendingCalls,
      runs: this.runs.size,
      ignoredMessages: this.#dispatcher.ignored,
    };
  }

  /** This node, as the others meet it. */
  asNode(): Node {
    const { directory, relay, questions, sessions, calls, backplane, runs } = this;
    return new Node({
      directory,
      relay,
      asked: new AskedCalls(calls, backplane),
      questions,
      instances: this.#instances,
      sessions,
      keepRuns: () => runs.keepAll(),
      log: this.#options.log,
    });
  }

  #makeSessions(): SessionDirectory {
    const { backplane } = this;
    const { limits, redis } = this.#options.loaded.config;
    return new SessionDirectory(limits, {
      userArrived: (userId) => {
        this.runs.userArrived(userId);
        return backplane.join(userId);
      },
      userLeft: (userId) => {
        this.runs.userLeft(userId);
        backplane.leave(userId);
      },
      ...(redis && { publish: (userId, events) => backplane.publish(userId, events) }),
    });
  }

  #makeRegistry(): RemoteRegistry {
    return new RemoteRegistry(this.#options.loaded.config.limits, {
      remoteConnected: ({ userId, remotename }) =>
        this.sessions.broadcast(userId, 'remote-connected', { remotename }),
      remoteDisconnected: (connection) => {
        const { userId, remotename } = connection;
        void whenThere(this.directory.ended(connection), () => this.#tellGone(userId, remotename));
      },
    });
  }

  #makeDirectory(): RemoteDirectory {
    return new RemoteDirectory({
      registry: this.registry,
      backplane: this.backplane,
      questions: this.questions,
      limits: this.#options.loaded.config.limits,
      remoteGone: (userId, remotename) => this.#tellGone(userId, remotename),
    });
  }

  #makeInstances(): InstanceRelay {
    return new InstanceRelay({
      backplane: this.backplane,
      questions: this.questions,
      sessions: this.sessions,
      providers: this.#providers,
      ignore: () => this.#dispatcher.ignore(),
      log: this.#options.log,
    });
  }

  #makeRuns(): Runs {
    const { loaded, log, createModel: make = createModel } = this.#options;
    const { agents, limits } = loaded.config;
    const { nativeTools } = this;
    return new Runs({
      agents: new AgentDirectory(agents, (agent) => nativeTools.namesOf(agent)),
      nativeTools,
      createModel: make,
      modelKeys: loaded.secrets.modelKeys,
      conversations: this.conversations,
      calls: this.calls,
      remotes: this.directory,
      events: this.sessions,
      elsewhere: this.backplane,
      log,
      counts: this.metrics.runs,
      tracing: this.#tracing,
      limits,
    });
  }

  #makeDispatcher(): Dispatcher {
    const { log, loaded } = this.#options;
    const { limits } = loaded.config;
    const { directory, calls, runs, registry } = this;
    const providers = this.#providers;
    const ignore = (): void => this.#dispatcher.ignore();
    return new Dispatcher({
      actions: [
        ...sessionActions({ authenticator: this.logins, greet: (session) => this.#greet(session) }),
        ...remoteActions({
          directory,
          instances: this.#instances,
          calls,
          providers,
          callers: this.#callers,
          limits,
          log,
          ignore,
        }),
        ...lintActions(directory),
        ...promptActions(runs, new RunsEverywhere(runs, this.backplane, this.questions)),
      ],
      readUsual,
      findArgumentsReader: (userId, remotename, functionName) =>
        registry.find(userId, remotename)?.functions.get(functionName)?.parameters?.bytes,
      maxDepth: limits.maxJsonDepth,
      onUnreadableAnswer: (session, requestId) => {
        const text = `the result is nested deeper than ${limits.maxJsonDepth} levels`;
        if (!providers.find(session)?.refuseAnswer(requestId, text)) ignore();
      },
      log,
    });
  }

  #makeReception(): Reception {
    const { log, loaded } = this.#options;
    const providers = this.#providers;
    return new Reception({
      authenticator: this.logins,
      sessions: this.sessions,
      dispatcher: this.#dispatcher,
      arriving: (coming) => this.#instances.arriving(coming),
      sessionOpened: (session) => providers.resume(session),
      // a session that has just begun has a provider only if it took one over
      greet: (session) => ({ ...this.#greet(session), resumed: providers.find(session) && true }),
      limits: loaded.config.limits,
      log,
    });
  }

  #tellGone(userId: string, remotename: string): void {
    this.sessions.broadcast(userId, 'remote-disconnected', { remotename });
  }

  /** What a session is told at its login. */
  #greet({ userId, id, expiresAt }: Session): JsonFields {
    const { maxMessageBytes } = this.#options.loaded.config.limits;
    return { message: 'authenticated', userId, sessionId: id, maxMessageBytes, expiresAt };
  }
}
