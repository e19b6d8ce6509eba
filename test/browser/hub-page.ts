import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Hub as ClientHub } from '@remotes-hub/client';
import { createHub, type Hub, type HubConfigInput } from '@remotes-hub/server';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { repository } from '../support/documentation.js';

/** Bundles a program of a page, or its code, from the sources of the client, as a page's build would. */
export async function bundlePage(
  program: { readonly file: string } | { readonly code: string },
): Promise<string> {
  const folder = `${repository}/test/browser`;
  const result = await build({
    ...('file' in program
      ? { entryPoints: [`${folder}/${program.file}`] }
      : { stdin: { contents: program.code, resolveDir: folder, loader: 'tsx' } }),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['hub-source'],
    nodePaths: [`${repository}/node_modules`],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' }, // where StrictMode mounts twice
  });
  return result.outputFiles[0]?.text ?? '';
}

/** A page at a hub, and a session of the same user in this process. */
export interface HubPage extends AsyncDisposable {
  readonly page: Page;
  readonly hub: Hub;
  readonly caller: ClientHub;
  /** The sessions and remotes that came since `caller` did, each by its id or name. */
  readonly sessionsOpened: readonly string[];
  readonly connected: readonly string[];
  /** What the page threw, or wrote to the console as an error. */
  readonly problems: readonly string[];
}

/** Opens a page whose only script is `script`; its `sessionStorage` has a `token`. */
export async function openHubPage(
  browser: Browser,
  script: string,
  config: HubConfigInput = {},
): Promise<HubPage> {
  const hub = createHub({
    config: {
      auth: { secret: 'a secret of the browser test, long enough' },
      log: { level: 'fatal' },
      ...config,
    },
  });
  const { token } = await hub.issueToken('u1', 600_000);
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? script
        : '<!doctype html><title>page</title><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/page.js"></script>',
    );
  });
  hub.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const caller = await connect(origin, { token });
  const sessionsOpened: string[] = [];
  const connected: string[] = [];
  caller.on('session-opened', ({ sessionId }) => {
    if (sessionId !== caller.sessionId) sessionsOpened.push(sessionId);
  });
  caller.on('remote-connected', ({ remotename }) => connected.push(remotename));
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.addInitScript((value) => sessionStorage.setItem('token', value), token);
  await page.goto(origin);
  return {
    page,
    hub,
    caller,
    sessionsOpened,
    connected,
    problems,
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await caller.close();
      await hub.close();
      server.close();
    },
  };
}
