import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { BuiltInAuthenticator } from './authentication/built-in-authenticator.js';
import { countedLogin } from './authentication/counted-logins.js';
import { resolveConfig } from './config/load-config.js';
import type { Hub, HubOptions } from './hub-interface.js';
import { HubParts } from './hub-parts.js';
import { createLogger } from './observability/logger.js';
import { PROMETHEUS_CONTENT_TYPE, PrometheusText } from './observability/prometheus-text.js';
import { announceClosing } from './sessions/closing-notice.js';
import { AllowedOrigins } from './transport/allowed-origins.js';
import { ClientAddresses } from './transport/client-addresses.js';
import { HttpListener } from './transport/http-listener.js';
import { createHttpRoutes, type HttpRoutesOptions } from './transport/http-routes.js';
import { WebSocketServer } from './transport/websocket-server.js';

/** Builds a hub: its parts, and the doors to them. @throws {ConfigError} */
export function createHub(options: HubOptions = {}): Hub {
  const { authenticate, createModel } = options;
  const loaded =
    options.loaded ??
    resolveConfig(options.config ?? {}, {
      env: process.env,
      authenticatesItself: authenticate !== undefined,
    });
  const { config, secrets } = loaded;
  const { limits } = config;
  const log = options.log ?? createLogger(config.log.level);
  const parts = new HubParts({
    loaded,
    log,
    ...(authenticate && { authenticate }),
    ...(createModel && { createModel }),
  });
  const { authenticator, backplane, host, metrics, reception, sessions } = parts;

  const allowedOrigins = new AllowedOrigins(config.auth.allowedOrigins);
  const addresses = new ClientAddresses(config.trustedProxies);
  const sockets = new WebSocketServer({
    path: config.path,
    limits,
    allowedOrigins,
    addresses,
    authenticator: parts.logins,
    traffic: metrics.traffic,
    log,
    hasRoom: () => sessions.hasRoom(),
    accept: (arrival) => reception.accept(arrival),
  });
  const prometheus = new PrometheusText({
    metrics,
    levels: () => parts.counts(),
    isBackplaneReady: () => backplane.isReady,
  });
  let closing: Promise<void> | undefined;
  const requestListener = createHttpRoutes({
    webSocketPath: config.path,
    login: loginOf(parts),
    allowedOrigins,
    addresses,
    isReady: () => closing === undefined && backplane.isReady,
    metrics: config.metrics && {
      path: config.metrics.path,
      token: secrets.metricsToken,
      render: async () => prometheus.render(),
      contentType: PROMETHEUS_CONTENT_TYPE,
    },
    log,
  });
  const listener = new HttpListener(requestListener);
  sockets.attach(listener.server, false);
  backplane.start(parts.asNode());

  const close = async (): Promise<void> => {
    closing ??= closeAll({ parts, sockets, listener, prometheus, drainMs: limits.drainMs });
    return closing;
  };
  return {
    listen: async ({ host: address = config.host, port = config.port } = {}) => {
      await parts.nativeTools.loadAll();
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
    counts: () => parts.counts(),
    metrics: async () => prometheus.render(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is closed, and how long all goes on but readiness before, in milliseconds. */
interface Closing {
  readonly parts: HubParts;
  readonly sockets: WebSocketServer;
  readonly listener: HttpListener;
  readonly prometheus: PrometheusText;
  readonly drainMs: number;
}

async function closeAll({ parts, sockets, listener, prometheus, drainMs }: Closing): Promise<void> {
  if (drainMs > 0) await delay(drainMs);
  sockets.stopAccepting();
  parts.calls.close();
  parts.relay.close();
  parts.registry.close();
  await parts.directory.close();
  await parts.runs.close();
  parts.conversations.close();
  await setImmediate(); // what just failed is answered before its connection closes
  announceClosing(parts.sessions.all());
  await sockets[Symbol.asyncDispose]();
  parts.questions.cutOff();
  await parts.backplane[Symbol.asyncDispose]();
  await listener[Symbol.asyncDispose]();
  parts.authenticator[Symbol.dispose]();
  prometheus[Symbol.dispose]();
}

function loginOf({ authenticator, metrics }: HubParts): HttpRoutesOptions['login'] {
  if (!(authenticator instanceof BuiltInAuthenticator) || !authenticator.canIssueTokens) return undefined;
  return async (username, password, origin) =>
    countedLogin(authenticator.login(username, password, origin), metrics.logins);
}
