import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompiledSchema } from '../../../server/src/json-schema/schema.js';
import { compileSchema, SchemaError } from '../../../server/src/json-schema/schema.js';
import type { JsonObject } from '../../../server/src/json/json-values.js';
import { isJsonArray, isJsonObject } from '../../../server/src/json/json-values.js';

const usualPlace = '../shared/data/json-schema-test-suite';

/** Where JSON-Schema-Test-Suite is looked for, relative to the repository's root. */
export const suiteFolder =
  process.env['JSON_SCHEMA_TEST_SUITE'] ?? fileURLToPath(new URL(`../../../${usualPlace}`, import.meta.url));

export const isSuitePresent = existsSync(join(suiteFolder, 'tests'));

/** For the title of a test that needs the suite: says where it was looked for when it is not there. */
export const suiteNote = isSuitePresent
  ? ''
  : ` (skipped: no data at ${process.env['JSON_SCHEMA_TEST_SUITE'] ?? usualPlace})`;

export interface SuiteResult {
  readonly total: number;
  readonly passed: number;
  /** `file: group` of every group in which a test missed. */
  readonly missedGroups: readonly string[];
}

/** One test of the suite. */
export interface SuiteExample {
  /** `file: group`. */
  readonly group: string;
  /** Absent when the schema is refused. */
  readonly compiled: CompiledSchema | undefined;
  readonly data: unknown;
  readonly isValid: boolean;
}

/** Runs files of one draft's folder. */
export function runSuite(draft: 'draft7' | 'draft2020-12', files?: readonly string[]): SuiteResult {
  const missed = new Set<string>();
  let total = 0;
  let passed = 0;
  for (const { group, compiled, data, isValid } of suiteExamples(draft, files)) {
    total += 1;
    if (compiled !== undefined && (compiled.validate(data) === undefined) === isValid) passed += 1;
    else missed.add(group);
  }
  return { total, passed, missedGroups: [...missed] };
}

/**
 * The tests of files of one draft's folder. The draft-07 files name no `$schema`: it is added, since a schema
 * without one is read as 2020-12.
 */
export function* suiteExamples(
  draft: 'draft7' | 'draft2020-12',
  files?: readonly string[],
): Iterable<SuiteExample> {
  const folder = join(suiteFolder, 'tests', draft);
  const names = files ?? readdirSync(folder).filter((name) => name.endsWith('.json'));
  for (const name of names) {
    for (const group of objectsIn(JSON.parse(readFileSync(join(folder, name), 'utf8')))) {
      const compiled = compiledOrRefused(withDraft(group['schema'], draft));
      for (const { data, valid } of objectsIn(group['tests'])) {
        yield {
          group: `${name}: ${String(group['description'])}`,
          compiled,
          data,
          isValid: valid === true,
        };
      }
    }
  }
}

/** Every schema of the mandatory files of both drafts. */
export function suiteSchemas(): unknown[] {
  return (['draft7', 'draft2020-12'] as const).flatMap((draft) =>
    mandatoryFiles(draft).flatMap((name) => {
      const groups: unknown = JSON.parse(readFileSync(join(suiteFolder, 'tests', draft, name), 'utf8'));
      return objectsIn(groups).map((group) => withDraft(group['schema'], draft));
    }),
  );
}

/** The mandatory files but those that need other documents or other vocabularies. */
export function mandatoryFiles(draft: 'draft7' | 'draft2020-12'): readonly string[] {
  return readdirSync(join(suiteFolder, 'tests', draft)).filter(
    (name) => name.endsWith('.json') && name !== 'refRemote.json' && name !== 'vocabulary.json',
  );
}

function withDraft(schema: unknown, draft: string): unknown {
  if (draft !== 'draft7' || !isJsonObject(schema) || Object.hasOwn(schema, '$schema')) return schema;
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
}

function compiledOrRefused(schema: unknown): CompiledSchema | undefined {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}
