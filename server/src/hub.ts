import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { createModel } from './agents/models/create-model.js';
import { AgentDirectory } from './agents/agent-directory.js';
import { Conversations } from './agents/conversations.js';
import { NativeToolSets } from './agents/native-tool-sets.js';
import { builtInTools } from './agents/native-tools.js';
import { Runs } from './agents/runs.js';
import { lintActions } from './actions/lint.js';
import { promptActions } from './actions/prompts.js';
import { remoteActions } from './actions/remotes.js';
import { readUsual } from './actions/usual-messages.js';
import { sessionActions } from './actions/sessions.js';
import { CallTelemetry } from './calls/call-telemetry.js';
import { CallerCalls } from './calls/caller-calls.js';
import { Calls } from './calls/calls.js';
import { HostProgram } from './calls/host-program.js';
import { AskedCalls } from './cluster/asked-calls.js';
import { createBackplane } from './cluster/create-backplane.js';
import { CallRelay } from './cluster/call-relay.js';
import { InstanceRelay } from './cluster/instance-relay.js';
import { Node } from './cluster/node.js';
import { Questions } from './cluster/questions.js';
import { RemoteDirectory } from './cluster/remote-directory.js';
import { RunsEverywhere } from './cluster/runs-everywhere.js';
import type { Limits } from './config/config-schema.js';
import { resolveConfig } from './config/load-config.js';
import { createLogger } from './observability/logger.js';
import { HubMetrics } from './observability/metrics.js';
import { PROMETHEUS_CONTENT_TYPE, PrometheusText } from './observability/prometheus-text.js';
import { Tracing } from './observability/tracing.js';
import type { Hub, HubCounts, HubOptions } from './hub-interface.js';
import { RemoteRegistry } from './remotes/remote-registry.js';
import { SessionProviders } from './remotes/session-providers.js';
import { countedLogin, countedLogins } from './authentication/counted-logins.js';
import { BuiltInAuthenticator } from './authentication/built-in-authenticator.js';
import type { CustomAuthenticator } from './authentication/custom-authenticator.js';
import { createAuthenticator } from './authentication/create-authenticator.js';
import { announceClosing } from './sessions/closing-notice.js';
import { Dispatcher } from './sessions/dispatcher.js';
import { PerSession } from './sessions/per-session.js';
import { Reception } from './sessions/reception.js';
import { SessionDirectory } from './sessions/session-directory.js';
import type { Session } from './sessions/session.js';
import { whenThere } from './soon.js';
import { AllowedOrigins } from './transport/allowed-origins.js';
import { ClientAddresses } from './transport/client-addresses.js';
import { HttpListener } from './transport/http-listener.js';
import { createHttpRoutes, type HttpRoutesOptions } from './transport/http-routes.js';
import { WebSocketServer } from './transport/websocket-server.js';

/** Builds a hub from its parts, and hands them to each other. @throws {ConfigError} */
export function createHub(options: HubOptions = {}): Hub {
  const loaded =
    options.loaded ??
    resolveConfig(options.config ?? {}, {
      env: process.env,
      authenticatesItself: options.authenticate !== undefined,
    });
  const { config } = loaded;
  const { limits } = config;
  const log = options.log ?? createLogger(config.log.level);
  const metrics = new HubMetrics();
  const tracing = new Tracing();
  const authenticator = createAuthenticator(options.authenticate, loaded, log);
  const logins = countedLogins(authenticator, metrics.logins);

  const backplane = createBackplane(loaded, log);
  const questions = new Questions(backplane, log);
  const sessions: SessionDirectory = new SessionDirectory(limits, {
    userArrived: (userId) => {
      runs.userArrived(userId);
      return backplane.join(userId);
    },
    userLeft: (userId) => {
      runs.userLeft(userId);
      backplane.leave(userId);
    },
    ...(config.redis && { publish: (userId, events) => backplane.publish(userId, events) }),
  });
  const remoteGone = (userId: string, remotename: string): void =>
    sessions.broadcast(userId, 'remote-disconnected', { remotename });
  const registry = new RemoteRegistry(limits, {
    remoteConnected: ({ userId, remotename }) =>
      sessions.broadcast(userId, 'remote-connected', { remotename }),
    remoteDisconnected: (connection) => {
      const { userId, remotename } = connection;
      void whenThere(directory.ended(connection), () => remoteGone(userId, remotename));
    },
  });
  const directory: RemoteDirectory = new RemoteDirectory({
    registry,
    backplane,
    questions,
    limits,
    remoteGone,
  });
  const relay = new CallRelay(backplane, limits);
  const calls = new Calls(registry, new CallTelemetry(metrics.calls, tracing, log), relay);
  const host = new HostProgram(directory, calls, limits, log);
  const providers = new SessionProviders(registry, (userId, instanceKey) =>
    instances.forgotten(userId, instanceKey),
  );
  const instances: InstanceRelay = new InstanceRelay({
    backplane,
    questions,
    sessions,
    providers,
    ignore: () => dispatcher.ignore(),
    log,
  });
  const callers = new PerSession(
    () => new CallerCalls(limits.maxCallsInFlight, () => metrics.calls.refused('too-many-calls')),
  );
  const conversations = new Conversations(limits);
  const nativeTools = new NativeToolSets({
    agents: config.agents,
    builtIn: builtInTools(),
    limits,
    log,
  });
  const runs: Runs = new Runs({
    agents: new AgentDirectory(config.agents, (agent) => nativeTools.namesOf(agent)),
    nativeTools,
    createModel: options.createModel ?? createModel,
    modelKeys: loaded.secrets.modelKeys,
    conversations,
    calls,
    remotes: directory,
    events: sessions,
    elsewhere: backplane,
    log,
    counts: metrics.runs,
    tracing,
    limits,
  });

  const greet = greeting(limits);
  const dispatcher: Dispatcher = new Dispatcher({
    actions: [
      ...sessionActions({ authenticator: logins, greet }),
      ...remoteActions({
        directory,
        instances,
        calls,
        providers,
        callers,
        limits,
        log,
        ignore: () => dispatcher.ignore(),
      }),
      ...lintActions(directory),
      ...promptActions(runs, new RunsEverywhere(runs, backplane, questions)),
    ],
    readUsual,
    findArgumentsReader: (userId, remotename, functionName) =>
      registry.find(userId, remotename)?.functions.get(functionName)?.parameters?.bytes,
    maxDepth: limits.maxJsonDepth,
    onUnreadableAnswer: (session, requestId) => {
      const text = `the result is nested deeper than ${limits.maxJsonDepth} levels`;
      if (!providers.find(session)?.refuseAnswer(requestId, text)) dispatcher.ignore();
    },
    log,
  });
  const reception = new Reception({
    authenticator: logins,
    sessions,
    dispatcher,
    arriving: (coming) => instances.arriving(coming),
    sessionOpened: (session) => providers.resume(session),
    // a session that has just begun has a provider only if it took one over
    greet: (session) => ({ ...greet(session), resumed: providers.find(session) && true }),
    limits,
    log,
  });
  const allowedOrigins = new AllowedOrigins(config.auth.allowedOrigins);
  const addresses = new ClientAddresses(config.trustedProxies);
  const sockets = new WebSocketServer({
    path: config.path,
    limits,
    allowedOrigins,
    addresses,
    authenticator: logins,
    traffic: metrics.traffic,
    log,
    hasRoom: () => sessions.hasRoom(),
    accept: (arrival) => reception.accept(arrival),
  });
  const counts = (): HubCounts => {
    const { remotes, providers: serving, pendingCalls } = registry.counts();
    return {
      sessions: sessions.size,
      unauthenticated: reception.waiting,
      remotes,
      providers: serving,
      callers: callers.size,
      pendingCalls,
      runs: runs.size,
      ignoredMessages: dispatcher.ignored,
    };
  };
  const prometheus = new PrometheusText({
    metrics,
    levels: counts,
    isBackplaneReady: () => backplane.isReady,
  });
  let closing: Promise<void> | undefined;
  const requestListener = createHttpRoutes({
    webSocketPath: config.path,
    login: loginOf(authenticator, metrics),
    allowedOrigins,
    addresses,
    isReady: () => closing === undefined && backplane.isReady,
    metrics: config.metrics && {
      path: config.metrics.path,
      token: loaded.secrets.metricsToken,
      render: async () => prometheus.render(),
      contentType: PROMETHEUS_CONTENT_TYPE,
    },
    log,
  });
  const listener = new HttpListener(requestListener);
  sockets.attach(listener.server, false);
  const asked = new AskedCalls(calls, backplane);
  const keepRuns = (): void => runs.keepAll();
  backplane.start(new Node({ directory, relay, asked, questions, instances, sessions, keepRuns, log }));

  const closeAll = async (): Promise<void> => {
    if (limits.drainMs > 0) await delay(limits.drainMs); // all goes on but readiness
    sockets.stopAccepting();
    calls.close();
    relay.close();
    registry.close();
    await directory.close();
    await runs.close();
    conversations.close();
    await setImmediate(); // what just failed is answered before its connection closes
    announceClosing(sessions.all());
    await sockets[Symbol.asyncDispose]();
    questions.cutOff();
    await backplane[Symbol.asyncDispose]();
    await listener[Symbol.asyncDispose]();
    authenticator[Symbol.dispose]();
    prometheus[Symbol.dispose]();
  };
  const close = async (): Promise<void> => {
    closing ??= closeAll();
    return closing;
  };

  return {
    listen: async ({ host: address = config.host, port = config.port } = {}) => {
      await nativeTools.loadAll();
      return listener.listen(address, port);
    },
    attach: (server) => sockets.attach(server, true),
    requestListener,
    issueToken: async (userId, ttlMs) => {
      if (authenticator instanceof BuiltInAuthenticator) return authenticator.issueToken(userId, ttlMs);
      throw new TypeError('a hub with its own authenticate function issues no tokens');
    },
    connectRemote: (remote) => host.connectRemote(remote),
    listRemotes: async (userId) => host.listRemotes(userId),
    call: async (call) => host.call(call),
    counts,
    metrics: async () => prometheus.render(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function loginOf(
  authenticator: BuiltInAuthenticator | CustomAuthenticator,
  { logins }: HubMetrics,
): HttpRoutesOptions['login'] {
  if (!(authenticator instanceof BuiltInAuthenticator) || !authenticator.canIssueTokens) return undefined;
  return async (username, password, origin) =>
    countedLogin(authenticator.login(username, password, origin), logins);
}

/** What a session is told at its login. */
function greeting({ maxMessageBytes }: Limits) {
  return ({ userId, id, expiresAt }: Session) => ({
    message: 'authenticated',
    userId,
    sessionId: id,
    maxMessageBytes,
    expiresAt,
  });
}
