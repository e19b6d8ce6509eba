import type { Browser } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { chromiumNote, chromiumPath, startChromium } from '../support/chromium.js';
import { runnableBlock } from '../support/documentation.js';
import { bundlePage, openHubPage, type HubPage } from './hub-page.js';

const hasChromium = chromiumPath !== undefined;
const plain = hasChromium ? await startChromium() : undefined;
const withTools = hasChromium ? await startChromium(['--enable-features=WebMCP']) : undefined;
const script = hasChromium ? await bundlePage({ file: 'model-context-page.ts' }) : '';
afterAll(async () => {
  await plain?.close();
  await withTools?.close();
});

/** Whether a browser has `document.modelContext`, and lets pages list tools. */
async function hasModelContext(browser: Browser | undefined): Promise<boolean> {
  if (browser === undefined) return false;
  const page = await browser.newPage();
  await page.route('https://page.test/', async (route) => route.fulfill({ body: '<!doctype html>' }));
  await page.goto('https://page.test/');
  const has = await page.evaluate(() => typeof document.modelContext?.getTools === 'function');
  await page.close();
  return has;
}

const kinds = [
  { kind: "the browser's own model context", browser: withTools, isNative: true },
  { kind: "the page's own registry", browser: plain, isNative: false },
];

const hasNative = await hasModelContext(withTools);
const runnable = kinds.filter(({ isNative }) => hasChromium && (!isNative || hasNative));
const nativeNote = hasNative ? '' : " (the browser's own is left out: this one has none)";

/** Opens the page and waits until it serves its tools. */
async function open(browser: Browser | undefined): Promise<HubPage> {
  if (browser === undefined) throw new Error('Chromium is not installed');
  const app = await openHubPage(browser, script);
  await expect.poll(() => app.connected).toEqual(['page']);
  return app;
}

async function served({ caller }: HubPage): Promise<string[] | undefined> {
  const [remote] = await caller.list();
  return remote?.tools.map(({ name }) => name).toSorted();
}

const inBrowser = test.skipIf(!hasChromium);

inBrowser.each(runnable)(
  `WEBMCP-11: tools of $kind are called by a session elsewhere${nativeNote}${chromiumNote}`,
  async ({ browser, isNative }) => {
    await using app = await open(browser);

    expect(await app.page.evaluate(() => window.isNative)).toBe(isNative);
    const [remote] = await app.caller.list();
    expect(remote?.tools.find(({ name }) => name === 'get_title')).toEqual({
      name: 'get_title',
      description: 'The title of the page.',
      verb: 'get',
    });
    expect(await app.caller.call('page', 'get_title')).toBe('page');
    expect(await app.caller.call('page', 'set_title', { title: 'set from afar' })).toEqual({
      title: 'set from afar',
    });
    expect(await app.page.title()).toBe('set from afar');
    await expect(app.caller.call('page', 'set_title', { title: 5 })).rejects.toMatchObject({
      code: 'invalid-arguments',
    });
    await expect(app.caller.call('page', 'buy')).rejects.toMatchObject({
      code: 'function-failed',
      message: 'sold out',
    });
    expect(app.problems).toEqual([]);
  },
);

inBrowser.each(runnable)(
  `WEBMCP-12: with $kind, tools come and go while a call is in flight, until it is stopped${nativeNote}${chromiumNote}`,
  async ({ browser }) => {
    await using app = await open(browser);
    const before = ['buy', 'get_title', 'set_title', 'wait'];
    const call = app.caller.call('page', 'wait');
    await expect.poll(async () => app.page.title()).toBe('waiting');

    await app.page.evaluate(async () => window.registerMore());
    await expect.poll(() => served(app)).toEqual([...before, 'more'].toSorted());
    expect(await app.caller.call('page', 'more')).toBe('more');
    await app.page.evaluate(() => window.unregisterMore());
    await expect.poll(() => served(app)).toEqual(before);
    await app.page.evaluate(() => window.finish());

    expect(await call).toBe('finished');
    await app.page.evaluate(async () => window.stop());
    expect(await app.caller.list()).toEqual([]);
  },
);

inBrowser.each(runnable)(
  `WEBMCP-13: with $kind, cancelling a call aborts the signal of the tool${nativeNote}${chromiumNote}`,
  async ({ browser }) => {
    await using app = await open(browser);
    const abort = new AbortController();
    const call = app.caller.call('page', 'wait', {}, { signal: abort.signal });
    await expect.poll(async () => app.page.title()).toBe('waiting');

    abort.abort();

    await expect(call).rejects.toMatchObject({ code: 'call-cancelled' });
    await expect.poll(async () => app.page.evaluate(() => window.aborted)).not.toBe('');
  },
);

inBrowser.each(runnable)(
  `DOC-01: with $kind, the example of the client README serves a tool of the page${nativeNote}${chromiumNote}`,
  async ({ browser }) => {
    if (browser === undefined) throw new Error('Chromium is not installed');
    const example = await bundlePage({ code: runnableBlock('client-sdk/README.md', 'model-context') });
    await using app = await openHubPage(browser, example);
    await expect.poll(() => app.connected).toEqual(['page']);

    expect(await app.caller.call('page', 'get_title')).toBe('page');
    expect(app.problems).toEqual([]);
  },
);
