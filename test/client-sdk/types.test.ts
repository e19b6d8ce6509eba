import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import {
  defineFunctions,
  type CallOptions,
  type FunctionDefinition,
  type Hub,
  type JsonObject,
  type JsonValue,
  type RemoteProxy,
  type StandardSchema,
} from '@remotes-hub/client';
import { LoggedIn } from './scripted-hub.js';

/** A schema of no library: in and out differ. */
const ownSchema: StandardSchema<{ text: string }, { length: number }> = {
  '~standard': {
    version: 1,
    vendor: 'own',
    validate: () => ({ value: { length: 1 } }),
    jsonSchema: { input: () => ({ type: 'object' }) },
  },
};

const functions = defineFunctions({
  zod: {
    description: 'With a schema of zod.',
    verb: 'get',
    parameters: z.object({
      city: z.string(),
      days: z.number().default(3),
      when: z.string().transform((text) => new Date(text)),
    }),
    handler: async (args, { signal }) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; when: Date }>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      return Promise.resolve({ city: args.city, degrees: 20 });
    },
  },
  optional: { parameters: z.object({ days: z.number().optional() }), handler: ({ days }) => days ?? null },
  own: {
    parameters: ownSchema,
    handler: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ length: number }>();
      return args.length;
    },
  },
  plain: {
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    handler: (args) => {
      expectTypeOf(args).toEqualTypeOf<JsonObject>();
      return [args];
    },
  },
  annotated: { parameters: { type: 'object' }, handler: ({ city }: { city: string }) => city.length },
  none: {
    handler(args) {
      expectTypeOf(args).toEqualTypeOf<JsonObject>();
    },
  },
  bare: { handler: () => true },
  mixed: { handler: (): number | undefined => undefined },
});

interface WeatherService {
  get_forecast(args: { city: string }): { forecast: string };
  later(args: { days?: number }): Promise<number>;
  status(): string;
  maybe?(args?: { city: string }): void;
  readonly property: (args: { a: 1 }) => null;
  readonly version: number;
  then(args: object): number;
}

test('SDK-20: defineFunctions gives back what it is given, its handlers typed by their schemas', () => {
  const definitions = { f: { parameters: z.object({ n: z.number() }), handler: () => 1 } };

  expect(defineFunctions(definitions)).toBe(definitions);
  expectTypeOf(functions.zod.verb).toEqualTypeOf<'get'>();
  expectTypeOf(functions.zod.handler).returns.resolves.toEqualTypeOf<{ city: string; degrees: number }>();
  // @ts-expect-error: a field of the wrong type
  defineFunctions({ f: { timeoutMs: '5s', handler: () => 1 } });
  // @ts-expect-error: no handler
  defineFunctions({ f: { description: 'x' } });
  // @ts-expect-error: an argument that the schema does not give
  defineFunctions({ f: { parameters: z.object({ n: z.number() }), handler: ({ m }) => void m } });
});

test('SDK-20: a proxy of definitions takes the input of their schemas and gives what their handlers return', () => {
  type Weather = RemoteProxy<typeof functions>;

  expectTypeOf<Weather['zod']>().toEqualTypeOf<
    (
      args: { city: string; days?: number | undefined; when: string },
      options?: CallOptions,
    ) => Promise<{ city: string; degrees: number }>
  >();
  expectTypeOf<Weather['optional']>().toEqualTypeOf<
    (args?: { days?: number | undefined }, options?: CallOptions) => Promise<number | null>
  >();
  expectTypeOf<Weather['own']>().parameter(0).toEqualTypeOf<{ text: string }>();
  expectTypeOf<Weather['own']>().returns.resolves.toEqualTypeOf<number>();
  expectTypeOf<Weather['plain']>().toEqualTypeOf<
    (args?: object, options?: CallOptions) => Promise<JsonObject[]>
  >();
  expectTypeOf<Weather['annotated']>().parameter(0).toEqualTypeOf<{ city: string }>();
  expectTypeOf<Weather['none']>().returns.resolves.toEqualTypeOf<null>();
  expectTypeOf<Weather['bare']>().toEqualTypeOf<(args?: object, options?: CallOptions) => Promise<boolean>>();
  expectTypeOf<Weather['mixed']>().returns.resolves.toEqualTypeOf<number | null>();
  expectTypeOf<Weather>().not.toHaveProperty('other');

  type Declared = RemoteProxy<{ f: FunctionDefinition<typeof ownSchema> }>;
  expectTypeOf<Declared['f']>().toEqualTypeOf<
    (args: { text: string }, options?: CallOptions) => Promise<unknown>
  >();
});

test('SDK-20: a proxy of an interface has its methods, with or without a promise, and nothing else', () => {
  type Weather = RemoteProxy<WeatherService>;

  expectTypeOf<Weather['get_forecast']>().toEqualTypeOf<
    (args: { city: string }, options?: CallOptions) => Promise<{ forecast: string }>
  >();
  expectTypeOf<Weather['later']>().toEqualTypeOf<
    (args?: { days?: number }, options?: CallOptions) => Promise<number>
  >();
  expectTypeOf<Weather['status']>().toEqualTypeOf<
    (args?: Record<string, never>, options?: CallOptions) => Promise<string>
  >();
  expectTypeOf<Weather['maybe']>().toEqualTypeOf<
    (args?: { city: string }, options?: CallOptions) => Promise<null>
  >();
  expectTypeOf<Weather['property']>().parameter(0).toEqualTypeOf<{ a: 1 }>();
  expectTypeOf<Weather['version']>().toEqualTypeOf<never>();
  expectTypeOf<Weather>().not.toHaveProperty('then');
});

test('SDK-20: a proxy without a type has functions of any name', () => {
  type Any = ReturnType<Hub['remote']>;

  expectTypeOf<Awaited<Any>>().toEqualTypeOf<Any>();
  expectTypeOf<Any['then']>().toEqualTypeOf<undefined>();
  expectTypeOf<NonNullable<Any['f']>>().toEqualTypeOf<
    (args?: object, options?: CallOptions) => Promise<JsonValue>
  >();
});

test('SDK-20: what the compiler must refuse', () => {
  const misuse = async (hub: Hub): Promise<void> => {
    const weather = hub.remote<typeof functions>('weather');
    // @ts-expect-error: a missing argument
    await weather.zod({ city: 'Rome' });
    // @ts-expect-error: no arguments where some are needed
    await weather.zod();
    // @ts-expect-error: the output of the schema instead of its input
    await weather.own({ length: 1 });
    // @ts-expect-error: an option that no call has
    await weather.bare({}, { timeout: 5 });
    // @ts-expect-error: arguments are an object
    await hub.remote('weather')['f']?.(5);
  };

  expect(misuse).toBeTypeOf('function');
});

test('SDK-20: what defineFunctions gives is served as it is', async () => {
  await using session = await LoggedIn.start();
  const { body } = await session.serve(functions);

  expect(body).toMatchObject({ tools: [{ name: 'zod', verb: 'get' }, {}, {}, {}, {}, {}, {}, {}] });
  expect(await session.hub.call('x#0', 'optional', { days: 2 })).toMatchObject({ result: 2 });
});

test('SDK-20: a method of the proxy is a call, with the options of both', async () => {
  await using session = await LoggedIn.start();
  const { signal } = new AbortController();
  const weather = session.client.remote<WeatherService>('weather', { timeoutMs: 5_000, signal });

  const forecast = weather.get_forecast({ city: 'Rome' });
  const request = await session.hub.answer({ result: { forecast: 'sunny' } });
  expect(request).toMatchObject({
    action: 'remote-call',
    body: { remotename: 'weather', function: 'get_forecast', args: { city: 'Rome' }, timeoutMs: 5_000 },
  });
  expect((await forecast).forecast).toBe('sunny');

  const status = weather.status(undefined, { timeoutMs: 7 });
  expect(await session.hub.answer({ result: 'up' })).toMatchObject({
    body: { function: 'status', args: {}, timeoutMs: 7 },
  });
  expect(await status).toBe('up');
});

test('SDK-20: a proxy has any function, each once, but none that JavaScript itself asks for', async () => {
  await using session = await LoggedIn.start();
  const remote: Readonly<Record<PropertyKey, unknown>> = session.client.remote('x');

  for (const name of ['then', 'toJSON', 'toString', 'valueOf', Symbol.toPrimitive, Symbol.iterator]) {
    expect(remote[name]).toBe(undefined);
  }
  for (const name of ['f', '__proto__', 'constructor', 'call', '7']) {
    expect(remote[name]).toBeTypeOf('function');
    expect(remote[name]).toBe(remote[name]);
  }
  expect(await Promise.resolve(remote)).toBe(remote);
  expect(JSON.stringify({ remote })).toBe('{"remote":{}}');
  expect(() => Number(remote)).toThrow(TypeError);
  expect(() => Object.assign(remote, { f: 1 })).toThrow(TypeError);
});

test('SDK-20: a remote of no name and options of the wrong type are refused at once, a bad function name later', async () => {
  await using session = await LoggedIn.start();

  expect(() => session.client.remote('')).toThrow(
    new RangeError('remotename: expected 1 to 128 characters, got 0'),
  );
  expect(() => session.client.remote('x', { timeoutMs: 0 })).toThrow(
    new RangeError('timeoutMs: expected an integer from 1 to 600000, got 0'),
  );
  await expect(session.client.remote('x')['n'.repeat(129)]?.()).rejects.toThrow(
    /^functionName: expected 1 to/u,
  );
});
