import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';

/**
 * The properties of a schema, and those that only branches of a union at its top name: the model should know them,
 * though the union itself cannot be exported. One that branches describe differently may be as any of them says.
 */
export function topLevelProperties(schema: JsonObject): JsonObject {
  const found = new Map<string, Map<string, unknown>>();
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const branches = ownProperty(schema, keyword);
    if (!isJsonArray(branches)) continue;
    for (const branch of branches) if (isJsonObject(branch)) collect(propertiesOf(branch), found);
  }
  const ofBranches = [...found].map(([name, forms]): [string, unknown] => [
    name,
    forms.size === 1 ? [...forms.values()][0] : { anyOf: [...forms.values()] },
  ]);
  return { ...Object.fromEntries(ofBranches), ...propertiesOf(schema) };
}

/** Different forms are told apart by their text, since there may be many. */
function collect(properties: JsonObject, found: Map<string, Map<string, unknown>>): void {
  for (const [name, form] of Object.entries(properties)) {
    const forms = found.get(name) ?? new Map<string, unknown>();
    found.set(name, forms.set(JSON.stringify(form), form));
  }
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = ownProperty(schema, 'properties');
  return isJsonObject(properties) ? properties : {};
}
