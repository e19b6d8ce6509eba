import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { chromiumNote, chromiumPath, startChromium } from '../support/chromium.js';
import { runnableBlock } from '../support/documentation.js';
import { eventually } from '../support/eventually.js';
import { bundlePage, openHubPage, type HubPage } from './hub-page.js';
import type { Settings } from './react-app.js';

const hasChromium = chromiumPath !== undefined;
const browser = hasChromium ? await startChromium() : undefined;
const script = hasChromium ? await bundlePage({ file: 'react-app.ts' }) : '';
afterAll(async () => browser?.close());

const agents = [{ id: 'assistant', name: 'A', model: { provider: 'offline' as const }, tools: [] }];

/** Opens the app with these settings. */
async function open(settings: Partial<Settings> = {}): Promise<HubPage> {
  if (browser === undefined) throw new Error('Chromium is not installed');
  const app = await openHubPage(browser, script, { agents });
  await change(app, settings);
  return app;
}

async function change({ page }: Pick<HubPage, 'page'>, settings: Partial<Settings>): Promise<void> {
  await page.evaluate((changed) => window.change(changed), settings);
}

async function start({ page }: Pick<HubPage, 'page'>, ...what: Parameters<Window['start']>): Promise<void> {
  await page.evaluate((values) => window.start(...values), what);
}

/** Waits until an output shows, among others, these fields. */
async function shows({ page }: { page: Page }, id: string, fields: object): Promise<void> {
  const output = page.locator(`#${id}`);
  const read = async (): Promise<unknown> => JSON.parse(await output.innerText());
  await expect.poll(read, { timeout: 10_000, interval: 10 }).toMatchObject(fields);
}

const inBrowser = test.skipIf(!hasChromium);

inBrowser(
  `REACT-01: under StrictMode one session is opened and a remote is connected once${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });

    await shows(app, 'session', { userId: 'u1', state: 'open' });
    await shows(app, 'remote', { status: 'connected', warnings: [] });

    expect(await app.caller.call('page', 'greet', { name: 'Ada' })).toBe('Hello Ada');
    expect(app.hub.counts().sessions).toBe(2);
    expect(app.connected).toEqual(['page']);
    expect(app.problems).toEqual([]);
  },
);

inBrowser(
  `REACT-02: a call runs the handler, and the schema, of the last render; nothing is served anew${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });

    await change(app, { greeting: 'Good day', longest: 3 });

    await expect.poll(async () => app.caller.call('page', 'greet', { name: 'Ada' })).toBe('Good day Ada');
    await expect(app.caller.call('page', 'greet', { name: 'Grace' })).rejects.toMatchObject({
      executed: 'no',
      message: expect.stringMatching('at most 3 letters') as unknown,
    });
    expect(app.connected).toEqual(['page']);
  },
);

inBrowser(
  `REACT-03: another spec serves the remote anew, and a call in flight finishes${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });

    const inFlight = await begun(app, 'finish');
    await change(app, { description: 'Greets politely.' });
    await expect.poll(() => app.connected).toEqual(['page', 'page']);
    await shows(app, 'remote', { status: 'connected' });

    const [remote] = await app.caller.list();
    expect(remote?.tools[0]?.description).toBe('Greets politely.');
    await app.page.evaluate(() => void window.dispatchEvent(new Event('finish')));
    expect(await inFlight.result).toBe('Hello');
  },
);

/** A call of the page's remote that has begun. */
async function begun(app: Pick<HubPage, 'caller'>, name: string): Promise<{ result: Promise<unknown> }> {
  return new Promise((resolve) => {
    const result = app.caller.call('page', name, {}, { onProgress: () => resolve({ result }) });
    result.catch(() => undefined);
  });
}

inBrowser(
  `REACT-04: unmounting the component disconnects its remote and aborts what runs; mounting serves again${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });
    const { result } = await begun(app, 'wait');

    await change(app, { parts: [] });

    await expect(result).rejects.toMatchObject({ code: 'remote-disconnected' });
    await expect.poll(async () => app.page.evaluate(() => window.aborted)).toMatch('RemoteError');
    expect(await app.caller.list()).toEqual([]);
    await change(app, { parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });
    expect(app.problems).toEqual([]);
  },
);

inBrowser(
  `REACT-05: a component takes over the name of the one it replaces, and may rename its remote${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });

    await change(app, { generation: 1, greeting: 'Hi' });
    await expect.poll(() => app.connected).toEqual(['page', 'page']);
    await shows(app, 'remote', { status: 'connected' });
    expect(await app.caller.call('page', 'greet', { name: 'Ada' })).toBe('Hi Ada');

    await change(app, { remotename: 'other' });
    await expect.poll(() => app.connected).toEqual(['page', 'page', 'other']);
    expect((await app.caller.list()).map(({ remotename }) => remotename)).toEqual(['other']);
  },
);

inBrowser(`REACT-06: a remote that cannot be served says why${chromiumNote}`, async () => {
  await using app = await open();
  await app.caller.serve('page', {});

  await change(app, { parts: ['remote'] });

  await shows(app, 'remote', { status: 'failed', error: { code: 'remote-already-connected' } });
});

inBrowser(
  `REACT-07: unmounting the provider closes its session; a session that it was given stays open${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });
    await app.page.evaluate(async () => window.useOwnHub());
    await expect.poll(() => app.connected).toEqual(['page', 'page']);
    expect(app.hub.counts().sessions).toBe(2);

    await change(app, { isOpen: false });

    await expect.poll(async () => app.caller.list()).toEqual([]);
    expect(await app.page.evaluate(() => window.ownHub?.isOpen)).toBe(true);
    expect(app.hub.counts().sessions).toBe(2);
  },
);

inBrowser(
  `REACT-08: another token opens another session, and a login that is refused is told by state and error${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });

    await change(app, { token: 'no token' });
    await shows(app, 'session', { state: 'closed', error: { code: 'invalid-credentials' } });
    await shows(app, 'remote', { status: 'failed', error: { code: 'invalid-credentials' } });
    await eventually(() => app.hub.counts().sessions === 1, 'the session with the old token was closed');
  },
);

inBrowser(`REACT-09: useRemotes follows what is connected${chromiumNote}`, async () => {
  await using app = await open({ parts: ['remotes'] });
  await shows(app, 'remotes', { names: [], isPending: false });

  const remote = await app.caller.serve('a', {});
  await app.caller.serve('b', {});
  await shows(app, 'remotes', { names: ['a', 'b'] });

  await remote.disconnect();
  await shows(app, 'remotes', { names: ['b'] });
});

/** Serves `node.work`, which gives its argument back when told, and remembers what was cancelled. */
async function serveWork(app: HubPage) {
  const cancelled: unknown[] = [];
  const finish = new Map<unknown, () => void>();
  await app.caller.serve('node', {
    work: {
      parameters: z.object({ value: z.string() }),
      handler: async ({ value }, { signal, ...call }) => {
        call.progress(`${value} begins`);
        await new Promise<void>((resolve) => {
          finish.set(value, resolve);
          signal.addEventListener('abort', () => {
            cancelled.push(value);
            resolve();
          });
        });
        return value;
      },
    },
  });
  return { cancelled, finish: (value: unknown) => finish.get(value)?.() };
}

inBrowser(
  `REACT-10: useCall shows progress and result of the last call and cancels the one before${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['call'] });
    const work = await serveWork(app);
    await shows(app, 'session', { state: 'open' });

    await start(app, 'call', 'first');
    await shows(app, 'call', { isPending: true, progress: 'first begins' });
    await start(app, 'call', 'second');
    await shows(app, 'call', { isPending: true, progress: 'second begins' });
    expect(work.cancelled).toEqual(['first']);
    work.finish('second');
    await shows(app, 'call', { isPending: false, data: 'second' });

    await start(app, 'call', 'third');
    await shows(app, 'call', { isPending: true, data: 'second', progress: 'third begins' });
    await start(app, 'cancel-call');
    await shows(app, 'call', { isPending: false, data: 'second' });
    await expect.poll(() => work.cancelled).toEqual(['first', 'third']);
    await app.caller.disconnect('node');
    await start(app, 'call', 'fourth');
    await shows(app, 'call', { isPending: false, error: { code: 'remote-not-connected' } });
    expect(app.problems).toEqual([]);
  },
);

inBrowser(`REACT-11: unmounting cancels the call that is pending${chromiumNote}`, async () => {
  await using app = await open({ parts: ['call'] });
  const work = await serveWork(app);
  await shows(app, 'session', { state: 'open' });
  await start(app, 'call', 'only');
  await shows(app, 'call', { progress: 'only begins' });

  await change(app, { parts: [] });

  await expect.poll(() => work.cancelled).toEqual(['only']);
  expect(app.problems).toEqual([]);
});

inBrowser(
  `REACT-12: useRun streams the text and the events of a run to its result${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['run'] });
    await app.caller.serve('weather', {
      get_forecast: { description: 'Retrieve weather forecast.', handler: () => 'sunny' },
    });
    await shows(app, 'session', { state: 'open' });
    await shows(app, 'run', { status: 'idle', events: [], text: '' });

    await start(app, 'prompt', 'assistant', 'Retrieve the weather forecast', 'weather');

    await shows(app, 'run', {
      status: 'completed',
      text: expect.stringContaining('get_forecast answered: "sunny"') as unknown,
      result: { status: 'completed' },
      events: expect.arrayContaining(['run-started', 'run-tool-call', 'run-text', 'run-finished']) as unknown,
    });
    await start(app, 'prompt', 'nobody', 'Hello', 'weather');
    await shows(app, 'run', { status: 'failed', error: { code: 'agent-not-found' }, events: [] });
    expect(app.problems).toEqual([]);
  },
);

inBrowser(
  `REACT-15: after a lost connection the remote is served again and the remotes are read again${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote', 'remotes'] });
    await shows(app, 'remote', { status: 'connected' });
    await shows(app, 'remotes', { names: ['page'] });

    await app.page.evaluate(() => window.cut());
    await expect.poll(() => app.connected).toEqual(['page', 'page']);
    await app.caller.serve('node', {});

    await shows(app, 'remotes', { names: ['page', 'node'] });
    await shows(app, 'session', { userId: 'u1', state: 'open' });
    await shows(app, 'remote', { status: 'connected' });
    expect(await app.caller.call('page', 'greet', { name: 'Ada' })).toBe('Hello Ada');
  },
);

inBrowser(
  `REACT-16: a remote that somebody disconnects, or whose name was taken meanwhile, is told as failed${chromiumNote}`,
  async () => {
    await using app = await open({ parts: ['remote'] });
    await shows(app, 'remote', { status: 'connected' });

    await app.caller.disconnect('page');
    await shows(app, 'remote', { status: 'failed', error: { code: 'remote-disconnected' } });

    await change(app, { generation: 1 });
    await shows(app, 'remote', { status: 'connected' });
    app.caller.on('remote-disconnected', async () => app.caller.serve('page', {}));
    await app.page.evaluate(() => window.cut());
    await shows(app, 'remote', { status: 'failed', error: { code: 'remote-already-connected' } });
  },
);

inBrowser(`DOC-01: the React example of the client README serves and calls${chromiumNote}`, async () => {
  if (browser === undefined) throw new Error('Chromium is not installed');
  const example = await bundlePage({ code: runnableBlock('client-sdk/README.md', 'react') });
  await using app = await openHubPage(browser, example);
  await app.caller.serve('weather', {
    get_forecast: { handler: ({ city }) => ({ city, forecast: 'sunny' }) },
  });
  await app.page.getByText('connected: 0').waitFor();

  await app.caller.call('counter', 'add', { n: 2 });
  await app.page.getByText('connected: 2').waitFor();
  expect(await app.caller.call('counter', 'get_count')).toBe(2);
  await app.page.getByRole('button').click();

  await app.page.getByText('{"city":"Rome","forecast":"sunny"}').waitFor();
  expect(app.problems).toEqual([]);
});
