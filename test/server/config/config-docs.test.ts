import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import {
  generatedFiles,
  renderReference,
  staleFiles,
  withReference,
} from '../../../scripts/write-config-docs.js';
import { configJsonSchema } from '../../../server/src/config/accepted-values.js';
import { configSchema } from '../../../server/src/config/config-schema.js';

test('CONFIG-03: config.schema.json and the reference of the README are what the schema makes them', async () => {
  expect(await staleFiles()).toEqual([]);
});

test('CONFIG-03: a file that was edited or is missing is stale', async () => {
  const [first] = generatedFiles;
  const edited = { file: first?.file ?? '', render: (current: string) => Promise.resolve(`${current}x`) };
  const missing = { file: '/nowhere/config.schema.json', render: () => Promise.resolve('{}') };
  expect(await staleFiles([edited, missing])).toEqual([edited.file, missing.file]);
});

test('the reference has one row for every key, with its default and unit', () => {
  const reference = renderReference();
  expect(reference).toContain('| `port` | an integer from 0 to 65535 | `7465` |');
  expect(reference).toContain('| `limits.callTimeoutMs` | an integer from 1 to 600000 | `30000` | ms |');
  expect(reference).toContain('| `agents[].model.provider` | "offline" | required |');
  for (const line of reference.split('\n')) expect(line.split(/(?<!\\)\|/)).toHaveLength(7);
});

test('a README without the marks is an error, not overwritten', () => {
  expect(() => withReference('# Server', '')).toThrow('are missing');
});

test('every value of the reference is documented', () => {
  const rows = renderReference().split('\n').slice(2);
  expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
});

test('CONFIG-03: the JSON Schema agrees with the schema on what is right and what is wrong', () => {
  const validate = new Ajv2020({ validateFormats: false }).compile({ ...configJsonSchema() });
  const agent = { id: 1, name: 'A', model: { provider: 'offline' } };
  const inputs: unknown[] = [
    {},
    { $schema: './config.schema.json', host: '::1', port: 0, path: '/hub' },
    { agents: [agent, { ...agent, id: 'b', tools: ['current_time'] }] },
    { agents: [{ ...agent, model: { provider: 'other' } }] },
    { port: -1 },
    { prot: 1 },
    { limits: { maxSessions: 0 } },
    { log: {} },
    { auth: { users: [{ username: '' }] } },
    [],
  ];
  for (const input of inputs)
    expect([input, validate(input)]).toEqual([input, configSchema.safeParse(input).success]);
});
