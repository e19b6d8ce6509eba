import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Hub as Client } from '@remotes-hub/client';
import { createHub, type Hub } from '@remotes-hub/server';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumNote, chromiumPath, startChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { bundlePage } from './hub-page.js';

/** Serves two functions of the document, and keeps what happens for the test to see. */
const pageProgram = `
  import { connect } from '@remotes-hub/client';
  const token = async () => (await fetch('/token')).text();
  const log: unknown[] = [];
  Object.assign(window, { log });
  const hub = await connect(location.origin, { token, reconnect: { delayMs: Number(new URLSearchParams(location.search).get('delay') ?? 50) } });
  hub.on('state', (change) => log.push(change));
  hub.on('serve-failed', (failure) => log.push(failure));
  Object.assign(window, { hub });
  await hub.serve('document', {
    get_title: { handler: () => document.title },
    set_title: { handler: ({ title }) => void (document.title = String(title)) },
  }).catch((error) => log.push({ refused: error.code }));
  log.push('ready');
`;

/** The same in a worker, by another name. */
const workerProgram = (name: string) => `
  import { connect } from '@remotes-hub/client';
  const serving = (async () => {
    const hub = await connect(self.location.origin, { token: async () => (await fetch('/token')).text() });
    await hub.serve('${name}', { where: { handler: () => typeof document + ' ' + self.constructor.name } });
  })();
  if ('registration' in self) self.addEventListener('install', (event) => event.waitUntil(serving));
`;

interface World extends AsyncDisposable {
  readonly hub: Hub;
  readonly proxy: FaultProxy;
  readonly context: BrowserContext;
  readonly caller: Client;
  readonly tokens: { ttlMs: number; asked: number };
  open(query?: string): Promise<Page>;
}

let browser: Browser | undefined;
let scripts: ReadonlyMap<string, string>;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  browser = await startChromium();
  scripts = new Map([
    ['/page.js', await bundlePage({ code: pageProgram })],
    ['/worker.js', await bundlePage({ code: workerProgram('worker') })],
    ['/service-worker.js', await bundlePage({ code: workerProgram('service-worker') })],
  ]);
}, 60_000);

afterAll(async () => browser?.close());

/** A hub with a page's server behind a proxy, and a session of the same user that does not go through it. */
async function startWorld(): Promise<World> {
  const hub = createHub({
    config: { auth: { secret: 'a secret of the browser test, long enough' }, log: { level: 'fatal' } },
  });
  const tokens = { ttlMs: 600_000, asked: 0 };
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '/';
    const script = scripts.get(path);
    response.setHeader('Content-Type', script === undefined ? 'text/html' : 'text/javascript');
    if (path !== '/token') {
      response.end(
        script ?? '<!doctype html><title>page</title><script type="module" src="/page.js"></script>',
      );
      return;
    }
    tokens.asked += 1;
    void hub.issueToken('u1', tokens.ttlMs).then(({ token }) => response.end(token));
  });
  hub.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const proxy = await FaultProxy.start(origin);
  const caller = await connect(origin, { token: (await hub.issueToken('u1', 600_000)).token });
  if (browser === undefined) throw new Error('there is no browser');
  const context = await browser.newContext();
  return {
    hub,
    proxy,
    context,
    caller,
    tokens,
    open: async (query = '') => {
      const page = await context.newPage();
      await page.goto(`${proxy.url}${query}`);
      await ready(page);
      return page;
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await caller.close();
      await proxy[Symbol.asyncDispose]();
      await hub.close();
      server.close();
    },
  };
}

const ready = (page: Page) =>
  page.waitForFunction(() => (window as { log?: unknown[] }).log?.includes('ready'));
const logOf = (page: Page) => page.evaluate(() => (window as { log?: unknown[] }).log);
const sessionOf = (page: Page) =>
  page.evaluate(() => (window as unknown as { hub: { sessionId: string } }).hub.sessionId);

/** Calls until the remote is there. */
async function titleOf(caller: Client): Promise<unknown> {
  const connected = new Promise((resolve) => {
    caller.on('remote-connected', resolve);
  });
  const remotes = await caller.list();
  if (!remotes.some(({ remotename }) => remotename === 'document')) await connected;
  return caller.call('document', 'get_title');
}

describe.skipIf(chromiumPath === undefined)(`a page that lasts${chromiumNote}`, { timeout: 60_000 }, () => {
  test('SDK-10: the network drops and comes back, and the page serves again', async () => {
    await using world = await startWorld();
    const page = await world.open();
    await world.caller.call('document', 'set_title', { title: 'before' });
    world.proxy.isDown = true;
    world.proxy.cut();
    await eventually(() => world.hub.counts().remotes === 0, 'the hub has seen the loss');
    await expect(world.caller.call('document', 'get_title')).rejects.toMatchObject({
      code: 'remote-not-connected',
    });
    world.proxy.isDown = false;

    expect(await titleOf(world.caller)).toBe('before');
    const [first, lost, ...later] = (await logOf(page)) as [string, object, ...object[]];
    expect([first, lost]).toMatchObject(['ready', { state: 'reconnecting', close: { code: 1006 } }]);
    expect(later.at(-1)).toEqual({ state: 'open' });
  });

  test('SDK-10: a page whose network comes back does not wait for its turn', async () => {
    await using world = await startWorld();
    const page = await world.open('?delay=60000');
    world.proxy.isDown = true;
    world.proxy.cut();
    await expect.poll(() => logOf(page)).toContainEqual(expect.objectContaining({ state: 'reconnecting' }));
    world.proxy.isDown = false;
    await page.evaluate(() => dispatchEvent(new Event('online')));
    expect(await titleOf(world.caller)).toBe('page');
  });

  test('SDK-11: a tab that reloads is the same instance: its ghost is gone at once', async () => {
    await using world = await startWorld();
    const page = await world.open();
    world.proxy.stall(); // the hub does not learn that the old page is gone
    await page.reload();
    await ready(page);
    expect(await logOf(page)).toEqual(['ready']);
    expect(await titleOf(world.caller)).toBe('page');
    expect(world.hub.counts().sessions).toBe(2);
  });

  test('SDK-11: a duplicated tab is another instance, and leaves the first alone', async () => {
    await using world = await startWorld();
    const page = await world.open();
    const session = await sessionOf(page);
    const [duplicate] = await Promise.all([
      world.context.waitForEvent('page'),
      page.evaluate(() => void open(location.href)),
    ]);
    await ready(duplicate);

    expect(await duplicate.evaluate(() => sessionStorage.length)).toBe(1);
    expect(await logOf(duplicate)).toEqual([{ refused: 'remote-already-connected' }, 'ready']);
    expect([await sessionOf(page), await logOf(page)]).toEqual([session, ['ready']]);
    expect(world.hub.counts().sessions).toBe(3);

    await duplicate.reload(); // it goes on as the instance that it became
    await ready(duplicate);
    expect(await sessionOf(page)).toBe(session);
  });

  test('SDK-13: a token that is about to expire is renewed, and the session lives on', async () => {
    await using world = await startWorld();
    world.tokens.ttlMs = 61_000;
    const page = await world.open();
    const session = await sessionOf(page);
    world.tokens.ttlMs = 600_000;
    await eventually(() => world.tokens.asked === 2, 'the page asks for another token');
    const expiresAt = await page.waitForFunction(() => {
      const { hub } = window as unknown as { hub: { expiresAt: number } };
      return hub.expiresAt > Date.now() + 300_000 && hub.expiresAt;
    });
    expect(await expiresAt.jsonValue()).toBeGreaterThan(Date.now() + 300_000);
    expect(await sessionOf(page)).toBe(session);
    expect(await logOf(page)).toEqual(['ready']);
  });

  test('SDK-14: a worker and a service worker serve as a page does', async () => {
    await using world = await startWorld();
    const page = await world.open();
    await page.evaluate(async () => {
      Object.assign(window, { worker: new Worker('/worker.js', { type: 'module' }) });
      const registration = await navigator.serviceWorker.register('/service-worker.js', { type: 'module' });
      await navigator.serviceWorker.ready;
      return registration.scope;
    });
    await eventually(() => world.hub.counts().remotes === 3, 'both serve');

    expect(await world.caller.call('worker', 'where')).toBe('undefined DedicatedWorkerGlobalScope');
    expect(await world.caller.call('service-worker', 'where')).toBe('undefined ServiceWorkerGlobalScope');
  });
});
