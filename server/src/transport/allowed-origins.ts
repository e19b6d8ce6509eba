import type { IncomingMessage } from 'node:http';

/**
 * Decides which pages may connect (cross-site WebSocket hijacking). Without a list, a page may connect to the
 * host that it came from; with one, only what is listed. A request without `Origin` is no page's: it still has
 * to log in.
 */
export class AllowedOrigins {
  readonly #allowed: ReadonlySet<string> | undefined;

  constructor(allowed: readonly string[] | undefined) {
    this.#allowed = allowed && new Set(allowed);
  }

  allows(request: IncomingMessage): boolean {
    const { origin, host } = request.headers;
    return origin === undefined || this.allowsOrigin(origin, host);
  }

  /** @param host the request's `Host` header */
  allowsOrigin(origin: string, host: string | undefined): boolean {
    if (this.#allowed !== undefined) return this.#allowed.has('*') || this.#allowed.has(origin);
    return host !== undefined && hostOf(origin) === hostOf(`${schemeOf(origin)}//${host}`);
  }
}

/** Host and port; the scheme's own port is left out, as browsers do. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

function schemeOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).protocol : 'null:';
}
