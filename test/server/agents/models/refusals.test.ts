import { expect, test } from 'vitest';
import { refuse, startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { ask } from './adapter.js';
import { wires } from './wires.js';

const refusals = [
  [400, 1, 'refused the request (400)'],
  [401, 1, 'refused the key (401)'],
  [404, 1, 'knows no such model or address (404)'],
  [413, 1, 'found the conversation too long (413)'],
  [429, 4, 'has received too many requests (429)'],
  [500, 4, 'is overloaded or failing (500)'],
  [529, 4, 'is overloaded or failing (529)'],
] as const;

test.each(wires.flatMap((wire) => refusals.map((row) => [wire.provider, ...row, wire] as const)))(
  'K079: %s: always %i ends after %i requests, in words without the provider’s own',
  async (provider, status, requests, words, { modelAt, refusal }) => {
    await using server = await startModelServer([
      refuse(status, refusal('some_error'), { 'retry-after-ms': '5' }),
    ]);

    await expect(ask(await modelAt(server, 60_000))).rejects.toMatchObject({
      name: 'ModelError',
      message: `the model provider ${provider} ${words}`,
    });
    expect(server.requests).toHaveLength(requests);
  },
);

test.each(wires.flatMap((wire) => [301, 307, 308].map((status) => [wire.provider, status, wire] as const)))(
  '%s: an answer %i to another address is not followed: the conversation goes nowhere else',
  async (_provider, status, { modelAt, text }) => {
    await using elsewhere = await startModelServer([stream(text('never asked for'))]);
    await using server = await startModelServer([refuse(status, {}, { location: `${elsewhere.url}/v1` })]);

    await expect(ask(await modelAt(server, 60_000))).rejects.toMatchObject({ name: 'ModelError' });
    expect(server.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
  },
);
