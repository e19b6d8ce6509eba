import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const places = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The system's Chromium, or `undefined` when there is none. The variable CHROMIUM names another. */
export const chromiumPath = places.find((place) => place !== undefined && existsSync(place));

/** What the title of a skipped browser test says. */
export const chromiumNote = chromiumPath === undefined ? ' (skipped: Chromium is not installed)' : '';

/** Starts the browser, without what would reach for the outside; `more` are further arguments of it. */
export async function startChromium(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('Chromium is not installed');
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}
