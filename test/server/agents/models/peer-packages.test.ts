import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { anthropicPackage } from '../../../../server/src/agents/models/anthropic.js';
import { openAiPackage } from '../../../../server/src/agents/models/openai-compatible.js';
import { loadPeer } from '../../../../server/src/agents/models/peer-packages.js';

const manifestSchema = z.object({ peerDependencies: z.record(z.string(), z.string()) });
const manifestUrl = new URL('../../../../server/package.json', import.meta.url);
const { peerDependencies } = manifestSchema.parse(JSON.parse(readFileSync(manifestUrl, 'utf8')));

/** Loads a package that answers like this. */
async function loaded(load: () => Promise<unknown>, version: () => Promise<{ VERSION: string }>) {
  return loadPeer({ name: 'openai', oldestMajor: 6, load, loadVersion: version });
}

const fails = (error: unknown) => async (): Promise<never> => {
  throw error;
};
const unknown = fails(new Error('no such export'));
const notFound = (message: string) => Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });

test('a package that is not there is named with the command that installs it', async () => {
  const error = notFound("Cannot find package 'openai' imported from /hub/openai-compatible.js");

  await expect(loaded(fails(error), fails(error))).rejects.toMatchObject({
    name: 'ModelError',
    message: "the package 'openai' is not installed: npm install openai",
    cause: error,
  });
});

test.each([
  [
    'a package that it needs',
    notFound("Cannot find package 'other' imported from /x/openai/index.mjs"),
    'Error',
  ],
  [
    'a file of it',
    notFound("Cannot find module '/x/openai/core.mjs' imported from /x/openai/index.mjs"),
    'Error',
  ],
  ['a syntax of a newer Node', new SyntaxError("Unexpected token 'openai'"), 'SyntaxError'],
  ['no error at all', 'broken', 'unknown failure'],
])('a package that is broken is told apart from one that is missing: %s', async (_, cause, kind) => {
  await expect(loaded(fails(cause), unknown)).rejects.toMatchObject({
    name: 'ModelError',
    message: `the package 'openai' cannot be loaded: ${kind}`,
    cause,
  });
});

test('a package that is too old is named with its version; an unknown or a newer one is taken', async () => {
  const load = async () => 'client';
  const version = (VERSION: string) => async () => ({ VERSION });

  await expect(loaded(load, version('4.104.0'))).rejects.toMatchObject({
    name: 'ModelError',
    message: "the package 'openai' 4.104.0 is too old, 6 or newer is needed: npm install openai",
  });
  for (const known of [version('6.0.0'), version('10.1.0'), version('next'), unknown])
    expect(await loaded(load, known)).toBe('client');
});

test.each([openAiPackage, anthropicPackage])(
  '$name is what the manifest of the server asks for',
  async (peer) => {
    expect(peerDependencies[peer.name]).toMatch(new RegExp(`^\\^${peer.oldestMajor}\\b`, 'u'));
    expect((await peer.loadVersion()).VERSION).toMatch(/^\d+\.\d+\.\d+/u);
  },
);
