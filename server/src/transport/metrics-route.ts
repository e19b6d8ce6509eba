import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';

/** What `GET /metrics` needs from the hub. */
export interface MetricsRouteOptions {
  /** Path of the endpoint. */
  readonly path: string;
  /** Whoever asks must have it; absent for everybody. */
  readonly token: string | undefined;
  /** The metrics as text. */
  readonly render: () => Promise<string>;
  readonly contentType: string;
}

/** Adds the endpoint for Prometheus (server/README.md, "Metrics, logs and traces"). */
export function addMetricsRoute(app: Hono<{ Bindings: HttpBindings }>, options: MetricsRouteOptions): void {
  const { path, token, render, contentType } = options;
  const allows = token === undefined ? () => true : bearerCheck(token);
  app.get(path, async (context) => {
    if (!allows(context.req.header('authorization'))) return refused(context);
    const text = await render();
    return context.body(text, 200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' });
  });
  app.all(path, (context) => {
    context.header('Allow', 'GET, HEAD');
    return context.json({ error: 'use GET', code: 'unknown-action' }, 405);
  });
}

function refused(context: Context): Response {
  context.header('WWW-Authenticate', 'Bearer');
  return context.json({ error: 'the metrics need their token', code: 'not-authenticated' }, 401);
}

/** Compares digests, which are of one length, in a time that tells nothing of the token. */
function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(token);
  return (header = '') => {
    const given = /^Bearer +([!-~]+)$/iu.exec(header)?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
