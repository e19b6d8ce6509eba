import type { IncomingMessage, RequestListener } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { passwordSchema, userIdSchema, type ErrorCode } from '@remotes-hub/protocol';
import { Hono, type Context } from 'hono';
import { cors } from 'hono/cors';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod';
import type { Logger } from '../observability/logger.js';
import { AuthenticationError, type AttemptOrigin } from '../authentication/authenticate.js';
import { describeIssues } from '../sessions/error-replies.js';
import type { AllowedOrigins } from './allowed-origins.js';
import type { ClientAddresses } from './client-addresses.js';
import { addMetricsRoute, type MetricsRouteOptions } from './metrics-route.js';

/** A request's body is small: a name and a password. */
const MAX_BODY_BYTES = 8 * 1024;

/** What the HTTP endpoints need from the hub. */
export interface HttpRoutesOptions {
  /** Path of the WebSocket endpoint; a plain request for it is told to upgrade. */
  readonly webSocketPath: string;
  /** Exchanges a password for a token; absent when this hub issues none. */
  readonly login:
    | ((
        username: string,
        password: string,
        origin: AttemptOrigin,
      ) => Promise<{ token: string; expiresAt: number }>)
    | undefined;
  readonly allowedOrigins: AllowedOrigins;
  readonly addresses: ClientAddresses;
  /** Whether new sessions are accepted. */
  readonly isReady: () => boolean;
  /** Absent when this hub shows no metrics. */
  readonly metrics: MetricsRouteOptions | undefined;
  readonly log: Logger;
}

type Env = { Bindings: HttpBindings };

const loginSchema = z.object({
  username: userIdSchema,
  password: passwordSchema,
});

/**
 * HTTP beside the socket (protocol/README.md, "HTTP"): `POST /v1/auth/token`, `GET /healthz`, `GET /readyz`, and
 * `GET /metrics` where that is configured.
 * @returns a listener for `request` events of a Node HTTP server
 */
export function createHttpRoutes(options: HttpRoutesOptions): RequestListener {
  const app = new Hono<Env>();
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', (context) => {
    return options.isReady() ? context.json({ status: 'ready' }) : context.json({ status: 'not ready' }, 503);
  });
  if (options.metrics !== undefined) addMetricsRoute(app, options.metrics);
  app.use(
    '/v1/*',
    cors({ origin: (origin, context) => allowedOrigin(origin, context, options.allowedOrigins) }),
  );
  app.post('/v1/auth/token', (context) => issueToken(context, options));
  app.all('/v1/auth/token', (context) => {
    context.header('Allow', 'POST');
    return failed(context, 405, 'unknown-action', 'use POST');
  });
  app.all(options.webSocketPath, (context) => {
    context.header('Upgrade', 'websocket');
    return failed(context, 426, 'unknown-action', 'this is a WebSocket endpoint');
  });
  app.notFound((context) => failed(context, 404, 'unknown-action', 'no such endpoint'));
  app.onError((error, context) => {
    const { method, path } = context.req;
    options.log.error(
      { err: error, method, path, address: options.addresses.of(context.env.incoming) },
      'HTTP request failed',
    );
    return failed(context, 500, 'internal-error', 'the hub failed; this was logged');
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return (request, response) => {
    listener(request, response).catch((error: unknown) => {
      options.log.error({ err: error, address: options.addresses.of(request) }, 'HTTP answer failed');
      response.destroy();
    });
  };
}

async function issueToken(context: Context<Env>, { login, addresses }: HttpRoutesOptions): Promise<Response> {
  if (login === undefined) return failed(context, 404, 'unknown-action', 'this hub issues no tokens');
  if (!/^application\/json\s*(?:;|$)/iu.test(context.req.header('content-type') ?? '')) {
    return failed(context, 415, 'invalid-body', 'expected Content-Type: application/json');
  }
  const text = await readBody(context.env.incoming);
  if (text === undefined) {
    context.header('Connection', 'close');
    return failed(context, 413, 'message-too-large', `at most ${MAX_BODY_BYTES} bytes are taken`);
  }
  const body = parseJson(text);
  if (body === undefined)
    return failed(context, 400, 'malformed-message', 'the body is not well-formed JSON');
  const parsed = loginSchema.safeParse(body.value);
  if (!parsed.success) return failed(context, 400, 'invalid-body', describeIssues(parsed.error.issues));
  const { username, password } = parsed.data;
  try {
    const { token, expiresAt } = await login(username, password, {
      address: addresses.of(context.env.incoming),
    });
    context.header('Cache-Control', 'no-store');
    return context.json({ token, expiresAt, tokenType: 'Bearer' });
  } catch (error) {
    if (!(error instanceof AuthenticationError) || error.code === 'internal-error') throw error;
    if (error.code === 'invalid-credentials') return failed(context, 401, error.code, error.message);
    context.header('Retry-After', String(Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)));
    return failed(context, 429, error.code, error.message);
  }
}

/** The body as text; `undefined` when it is larger than is taken, whatever its headers say. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else resolve();
    });
    request.on('end', resolve);
    request.on('error', reject);
  });
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString() : undefined;
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function allowedOrigin(origin: string, context: Context, allowedOrigins: AllowedOrigins): string | null {
  return allowedOrigins.allowsOrigin(origin, context.req.header('host')) ? origin : null;
}

function failed(context: Context, status: ContentfulStatusCode, code: ErrorCode, error: string): Response {
  return context.json({ error, code }, status);
}
