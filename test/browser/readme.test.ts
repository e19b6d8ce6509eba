import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createHub } from '@remotes-hub/server';
import { chromiumNote, chromiumPath, startChromium } from '../support/chromium.js';
import { runnableBlock } from '../support/documentation.js';
import { TestSession } from '../support/session.js';
import { bundlePage } from './hub-page.js';

/** The browser examples, and what their `set_title` answers. */
const examples = [
  { page: 'README.md', block: 'browser example', result: 'set from afar' },
  { page: 'client-sdk/README.md', block: 'browser', result: null },
];

test.skipIf(chromiumPath === undefined).each(examples)(
  `DOC-01: the browser example of $page serves a function of a page, under a strict policy${chromiumNote}`,
  { timeout: 60_000 },
  async ({ page: readme, block, result }) => {
    const script = await bundlePage({ code: runnableBlock(readme, block) });
    await using hub = createHub({
      config: { auth: { secret: 'a secret of the browser test, long enough' }, log: { level: 'error' } },
    });
    const { token } = await hub.issueToken('u1', 600_000);
    const html = '<!doctype html><title>before</title><script type="module" src="/page.js"></script>';
    const server = createServer((request, response) => {
      const isScript = request.url === '/page.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
      response.setHeader(
        'Content-Security-Policy',
        "default-src 'none'; script-src 'self'; connect-src 'self'",
      );
      response.end(isScript ? script : html);
    });
    hub.attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const origin = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const browser = await startChromium();
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      await page.addInitScript((value) => sessionStorage.setItem('token', value), token);
      const caller = await TestSession.open(`ws://${origin}/ws`, [], {
        headers: { authorization: `Bearer ${token}` },
      });
      await page.goto(`http://${origin}/`);
      await caller.event('remote-connected');

      expect(await caller.call('page', 'set_title', { title: 'set from afar' })).toMatchObject({
        result,
      });

      expect(await page.title()).toBe('set from afar');
      expect(problems).toEqual([]);
      await caller.close();
    } finally {
      await browser.close();
      await hub.close();
      server.close();
    }
  },
);
