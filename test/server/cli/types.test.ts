import { expect, test } from 'vitest';
import type { JsonObject } from '@remotes-hub/protocol';
import { remoteTypes } from '../../../server/src/cli/typescript/remote-types.js';
import { doublingSchema } from '../../support/doubling-schema.js';
import { run, startHub } from './run-command.js';
import { compile } from './typescript-compiler.js';

const functions = [
  {
    name: 'get_forecast',
    description: 'Weather forecast of a city.\nAsk often.',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Its name.' },
        days: { type: 'integer' },
        unit: { enum: ['C', 'F'] },
      },
      required: ['city'],
    },
    result: {
      type: 'object',
      properties: { forecast: { type: 'string' }, next: { $ref: '#' } },
      required: ['forecast'],
    },
  },
  { name: 'list-stations', parameters: null, result: { type: 'array', items: { type: 'string' } } },
  {
    name: 'move',
    parameters: {
      type: 'object',
      properties: { to: { $ref: '#/$defs/place' } },
      $defs: { place: { description: 'Where.', type: 'object', properties: { x: { type: 'number' } } } },
    },
  },
];

const text = `// The functions of the remote "weather-service": hub.remote<WeatherService>("weather-service").

export interface WeatherService {
  /**
   * Weather forecast of a city.
   * Ask often.
   */
  get_forecast(args: {
    /** Its name. */
    city: string;
    days?: number;
    unit?: "C" | "F";
  }): Promise<GetForecastResult>;

  "list-stations"(args?: object): Promise<string[]>;

  move(args?: { to?: Place }): Promise<unknown>;
}

export type GetForecastResult = { forecast: string; next?: GetForecastResult };

/** Where. */
export type Place = { x?: number };
`;

test('CLI-11: types prints an interface of a connected remote, for people and for machines', async () => {
  await using started = await startHub();
  const handler = () => null;
  started.hub.connectRemote({
    userId: 'ada',
    remotename: 'weather-service',
    functions: functions.map((spec) => ({ ...spec, handler })),
  });

  expect(await run(['types', 'weather-service'], started.env)).toEqual({
    exitCode: 0,
    stdout: text,
    stderr: '',
  });
  const machine = await run(['types', 'weather-service', '--json'], started.env);
  expect(JSON.parse(machine.stdout)).toEqual({ remotename: 'weather-service', name: 'WeatherService', text });
  expect(await run(['types', 'nobody', '--json'], started.env)).toEqual({
    exitCode: 1,
    stdout: `${JSON.stringify({ error: "no connected remote named 'nobody'", code: 'remote-not-connected' })}\n`,
    stderr: "error: no connected remote named 'nobody' (remote-not-connected)\n",
  });
});

test('CLI-11: the interface is what hub.remote takes', { timeout: 60_000 }, async () => {
  const use = `
import type { Hub } from '@remotes-hub/client';
import type { WeatherService } from './weather.js';

export async function use(hub: Hub): Promise<string | undefined> {
  const weather = hub.remote<WeatherService>('weather-service');
  const stations: string[] = await weather['list-stations']();
  await weather.move({ to: { x: 1 } }, { timeoutMs: 5_000 });
  await weather.move();
  // @ts-expect-error: a unit that there is not
  await weather.get_forecast({ city: 'Rome', unit: 'K' });
  // @ts-expect-error: no city
  await weather.get_forecast();
  const { forecast, next } = await weather.get_forecast({ city: stations[0] ?? 'Rome', unit: 'C' });
  return next?.next?.forecast ?? forecast;
}
`;
  expect(await compile({ weather: text, use })).toEqual([]);
});

test.each([
  ['weather', 'Weather'],
  ['my weather_service/2', 'MyWeatherService2'],
  ['2nd', 'Remote2nd'],
  ['погода', 'Remote'],
  ['promise', 'PromiseService'],
])('CLI-11: the remote %j becomes the interface %s', (remotename, name) => {
  expect(remoteTypes(remotename, []).name).toBe(name);
});

test('CLI-11: two schemas of one name get two, and nothing gets the name of the interface', () => {
  const schema = { $ref: '#/$defs/weather', $defs: { weather: { type: 'string' } } };
  const printed = remoteTypes('weather', [
    { name: 'f', result: schema },
    { name: 'g', result: structuredClone(schema) },
  ]).text;

  expect(printed).toContain('f(args?: object): Promise<Weather2>;');
  expect(printed).toContain('g(args?: object): Promise<Weather3>;');
});

const union = (count: number, key: string): JsonObject => ({
  anyOf: Array.from({ length: count }, (_none, index) => ({
    type: 'object',
    properties: { [`${key}${index}`]: { type: 'string' } },
    required: [`${key}${index}`],
  })),
});

/** Definitions that refer to the next one, straight or in an object. */
const chain = (length: number, link: (next: JsonObject, index: number) => JsonObject): JsonObject => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length }, (_none, index) => [
      `d${index}`,
      index === length - 1 ? { type: 'string' } : link({ $ref: `#/$defs/d${index + 1}` }, index),
    ]),
  ),
});

const large: Record<string, JsonObject> = {
  'a place for every path': doublingSchema(40),
  'unions multiplied': { allOf: [union(60, 'a'), union(60, 'b'), union(60, 'c')] },
  'unions multiplied by name': {
    allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { $ref: '#/$defs/c' }],
    $defs: { a: union(60, 'a'), b: union(60, 'b'), c: union(60, 'c') },
  },
  'unions doubled by name': chain(15, (next, index) => ({
    anyOf: [{ allOf: [next, union(1, `a${index}_`)] }, { allOf: [next, union(1, `b${index}_`)] }],
  })),
  'a long chain of names': chain(1_500, (next) => next),
  'a long chain of objects': chain(1_500, (next) => ({ type: 'object', properties: { next } })),
  'a long chain of tuples': chain(1_500, (next) => ({ type: 'array', prefixItems: [next] })),
  'many constants': { enum: Array.from({ length: 9_000 }, (_none, index) => `c${index}`) },
  'many items': { type: 'array', prefixItems: Array.from({ length: 4_000 }, () => ({ type: 'string' })) },
  'many properties': {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 4_000 }, (_none, index) => [`p${index}`, {}])),
  },
  endless: { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
};

test(
  'CLI-11: schemas made to be too much are written in short time, as modules that compile',
  { timeout: 120_000 },
  async () => {
    const modules: Record<string, string> = {};
    for (const [index, [name, schema]] of Object.entries(large).entries()) {
      const start = performance.now();
      const printed = remoteTypes('r', [{ name: 'f', parameters: schema, result: schema }]).text;
      expect([name, performance.now() - start < 5_000, printed.length < 1_000_000]).toEqual([
        name,
        true,
        true,
      ]);
      modules[`large${index}`] = printed;
    }
    expect(await compile(modules)).toEqual([]);
  },
);

test('CLI-11: a schema that no hub would take is unknown', () => {
  let deep: JsonObject = {};
  for (let level = 0; level < 10_000; level += 1) deep = { type: 'array', items: deep };
  const twice = { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } }, type: 'string' };

  for (const result of [deep, twice, { enum: Array.from({ length: 20_000 }, () => 1) }]) {
    expect(remoteTypes('r', [{ name: 'f', result }]).text).toContain('f(args?: object): Promise<unknown>;');
  }
});
