// Writes what is generated from the schema of the configuration: server/config.schema.json, and the reference
// between the marks in server/README.md.
//
// Use: npx tsx -C hub-source scripts/write-config-docs.ts [--check]
// With --check nothing is written; exit code 1 when a file is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { acceptedValues, configJsonSchema, type JsonSchema } from '../server/src/config/accepted-values.js';

const schemaFile = fileURLToPath(new URL('../server/config.schema.json', import.meta.url));
const readmeFile = fileURLToPath(new URL('../server/README.md', import.meta.url));

const startMark = '<!-- reference: written by scripts/write-config-docs.ts, do not edit -->';
const endMark = '<!-- end of reference -->';

/** A generated file: what it should hold, made from what it holds. */
export interface GeneratedFile {
  readonly file: string;
  readonly render: (current: string) => Promise<string>;
}

/** All files that this script writes. */
export const generatedFiles: readonly GeneratedFile[] = [
  { file: schemaFile, render: renderSchema },
  { file: readmeFile, render: (current) => Promise.resolve(withReference(current, renderReference())) },
];

/** The names of the files whose content is not what it should be. */
export async function staleFiles(files: readonly GeneratedFile[] = generatedFiles): Promise<string[]> {
  const stale: string[] = [];
  for (const { file, render } of files) {
    const current = await readOrEmpty(file);
    if ((await render(current)) !== current) stale.push(file);
  }
  return stale;
}

/** The README with the reference between its marks. @throws {Error} when the marks are missing */
export function withReference(readme: string, reference: string): string {
  const start = readme.indexOf(startMark);
  const end = readme.indexOf(endMark);
  if (start === -1 || end < start) throw new Error(`the marks "${startMark}" and "${endMark}" are missing`);
  return `${readme.slice(0, start + startMark.length)}\n${reference}\n${readme.slice(end)}`;
}

/** The reference: one row for every key. */
export function renderReference(): string {
  const head = ['| key | accepts | default | unit | meaning |', '| --- | --- | --- | --- | --- |'];
  return [...head, ...rows(configJsonSchema(), '')].join('\n');
}

async function renderSchema(): Promise<string> {
  const schema = { title: 'Configuration of remotes-hub', ...configJsonSchema() };
  const options = await resolveConfig(schemaFile);
  return format(JSON.stringify(schema), { ...options, filepath: schemaFile });
}

function rows(schema: JsonSchema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    if (typeof child !== 'object') return [];
    const key = `${prefix}${name}`;
    return [row(key, child, schema.required?.includes(name) ?? false), ...rowsInside(child, key)];
  });
}

function rowsInside(schema: JsonSchema, key: string): string[] {
  const variants = [schema, ...(schema.oneOf ?? [])].filter((variant) => typeof variant === 'object');
  const items = schema.items;
  return [
    ...variants.flatMap((variant) => rows(variant, `${key}.`)),
    ...(typeof items === 'object' && !Array.isArray(items) ? rows(items, `${key}[].`) : []),
  ];
}

function row(key: string, schema: JsonSchema, isRequired: boolean): string {
  const standard = isRequired ? 'required' : defaultText(schema.default);
  const cells = [`\`${key}\``, acceptedValues(schema), standard, unitOf(key), schema.description ?? ''];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function defaultText(value: unknown): string {
  const text = JSON.stringify(value);
  return text === undefined || text === '{}' ? '' : `\`${text.replaceAll('","', '", "')}\``;
}

function unitOf(key: string): string {
  if (key.endsWith('Ms')) return 'ms';
  if (key.endsWith('Bytes') || key.endsWith('BytesPerUser')) return 'bytes';
  if (key.endsWith('PerSecond')) return '1/s';
  return key.endsWith('Seconds') ? 's' : '';
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const stale = await staleFiles();
    for (const file of stale) console.error(`${file} is stale: run scripts/write-config-docs.ts`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  for (const { file, render } of generatedFiles) await writeFile(file, await render(await readOrEmpty(file)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
