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
    return URL.canParse(origin) && host !== undefined && isSameHost(new URL(origin), origin, host);
  }
}

/** Compares host and port; the scheme's own port is left out, as browsers do. What is no origin has no host. */
function isSameHost(page: URL, origin: string, host: string): boolean {
  const asked = `${page.protocol}//${host}`;
  return page.origin === origin && URL.canParse(asked) && new URL(asked).host === page.host;
}
