import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';
import { LegalNames } from './tool-names.js';

/** Most renamed properties that are told. */
const MAX_TOLD_NAMES = 5;

/** Keywords that know properties by their names; they go when some are sent under others. */
const namingKeywords: ReadonlySet<string> = new Set([
  'patternProperties',
  'propertyNames',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
]);

/** Parameters whose properties have names that the provider takes. */
export interface LegalProperties {
  readonly schema: JsonObject;
  /** The way of the names there and back, when some are sent under others. */
  readonly properties?: LegalNames;
  readonly changes: readonly string[];
}

/** Gives the properties at the top legal names where they have none; deeper ones are free. */
export function withLegalProperties(schema: JsonObject, propertyName: RegExp | undefined): LegalProperties {
  const properties = ownProperty(schema, 'properties');
  const names = isJsonObject(properties) ? Object.entries(properties) : [];
  if (propertyName === undefined || names.every(([name]) => propertyName.test(name))) {
    return { schema, changes: [] };
  }
  const legal = new LegalNames(
    names.map(([name]) => name),
    propertyName,
  );
  const kept = Object.entries(schema).filter(([keyword]) => !namingKeywords.has(keyword));
  const required = ownProperty(schema, 'required');
  const renamed = {
    ...Object.fromEntries(kept),
    properties: Object.fromEntries(names.map(([name, value]) => [legal.toProvider(name), value])),
    ...(isJsonArray(required) && { required: required.map((name) => legal.toProvider(String(name))) }),
  };
  return { schema: renamed, properties: legal, changes: tellRenamed(names, legal) };
}

function tellRenamed(names: readonly (readonly [string, unknown])[], legal: LegalNames): string[] {
  const renamed = names.filter(([name]) => legal.toProvider(name) !== name);
  const told = renamed
    .slice(0, MAX_TOLD_NAMES)
    .map(
      ([name]) => `the property ${JSON.stringify(name.slice(0, 100))} is sent as '${legal.toProvider(name)}'`,
    );
  const rest = renamed.length - told.length;
  return rest === 0 ? told : [...told, `${rest} more properties are sent under other names`];
}
