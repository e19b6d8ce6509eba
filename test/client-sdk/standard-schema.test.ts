import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject, StandardSchema } from '@remotes-hub/client';
import { LoggedIn } from './scripted-hub.js';

const parameters = z.object({
  city: z.string().min(1),
  days: z.number().int().default(3),
  when: z.string().transform((text) => text.toUpperCase()),
});

/** A schema of a library without Standard JSON Schema. */
const bare: StandardSchema<{ n: number }> = {
  '~standard': { version: 1, vendor: 'bare', validate: () => ({ value: { n: 1 } }) },
};

test('a zod schema goes to the hub as JSON Schema and gives the handler typed, transformed arguments', async () => {
  await using session = await LoggedIn.start();
  const request = session.client.serve('x', {
    f: {
      parameters,
      handler: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; when: string }>();
        return args;
      },
    },
  });
  const { body } = await session.hub.answer({ message: 'remote connected' });
  await request;

  expect(body).toMatchObject({
    tools: [
      {
        name: 'f',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string', minLength: 1 }, days: { type: 'integer', default: 3 } },
          required: ['city', 'when'],
        },
      },
    ],
  });
  expect(await session.hub.call('x#0', 'f', { city: 'Rome', when: 'now' })).toMatchObject({
    result: { city: 'Rome', days: 3, when: 'NOW' },
  });
});

test('arguments that do not fit are refused before the handler runs, with executed "no"', async () => {
  await using session = await LoggedIn.start();
  let runs = 0;
  const strict = z.object({ city: z.string(), tags: z.array(z.string()) });
  await session.serve({ f: { parameters: strict, handler: () => (runs += 1) } });

  expect(await session.hub.call('x#0', 'f', { city: 5, tags: ['a', 6] })).toEqual({
    action: 'remote-call-result',
    requestId: 'x#0',
    error:
      'arguments of f: /city: Invalid input: expected string, received number; ' +
      '/tags/1: Invalid input: expected string, received number',
    executed: 'no',
  });
  expect(runs).toBe(0);
});

test('an asynchronous check is awaited, and one that throws is a refusal', async () => {
  await using session = await LoggedIn.start();
  const slow = z.object({ n: z.number().refine(async (n) => Promise.resolve(n > 0), 'too small') });
  const broken: StandardSchema = {
    '~standard': {
      version: 1,
      vendor: 'broken',
      validate: () => {
        throw new Error('no table');
      },
    },
  };
  await session.serve({
    slow: { parameters: slow, handler: ({ n }) => n },
    broken: { parameters: broken, jsonSchema: {}, handler: () => 1 },
  });

  expect(await session.hub.call('x#0', 'slow', { n: 2 })).toMatchObject({ result: 2 });
  expect(await session.hub.call('x#1', 'slow', { n: 0 })).toMatchObject({
    error: 'arguments of slow: /n: too small',
    executed: 'no',
  });
  expect(await session.hub.call('x#2', 'broken')).toMatchObject({
    error: 'arguments of broken could not be checked: no table',
    executed: 'no',
  });
});

test('plain JSON Schema, or none, gives the handler a JSON object as it came', async () => {
  await using session = await LoggedIn.start();
  await session.serve({
    f: {
      parameters: { type: 'object' },
      handler: (args) => {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return args;
      },
    },
    g: {
      handler(args) {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return args;
      },
    },
  });

  expect(await session.hub.call('x#0', 'f', { a: 1 })).toMatchObject({ result: { a: 1 } });
  expect(await session.hub.call('x#1', 'g', { b: 2 })).toMatchObject({ result: { b: 2 } });
});

test('a library that writes no JSON Schema needs jsonSchema beside it', async () => {
  await using session = await LoggedIn.start();
  const { client } = session;

  await expect(client.serve('x', { f: { parameters: bare, handler: ({ n }) => n } })).rejects.toThrow(
    new TypeError(
      'functions.f.parameters: bare writes no JSON Schema; give its JSON Schema as functions.f.jsonSchema',
    ),
  );
  const jsonSchema = { type: 'object', required: ['n'] };
  const serving = client.serve('x', { f: { parameters: bare, jsonSchema, handler: ({ n }) => n } });
  const { body } = await session.hub.answer({ message: 'remote connected' });
  await serving;
  expect(body).toMatchObject({ tools: [{ name: 'f', parameters: jsonSchema }] });
  expect(await session.hub.call('x#0', 'f')).toMatchObject({ result: 1 });
});

test('a schema that cannot be written as JSON Schema is a TypeError that says why', async () => {
  await using session = await LoggedIn.start();
  const unwritable = z.object({ at: z.date() });

  await expect(
    session.client.serve('x', { f: { parameters: unwritable, handler: () => 1 } }),
  ).rejects.toThrow(
    /^functions\.f\.parameters cannot be written as JSON Schema \(.*[Dd]ate.*\); give its JSON Schema as/u,
  );
});
