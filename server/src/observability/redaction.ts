/** Fields that no log line shows, wherever they stand, in lower case. */
const hidden: ReadonlySet<string> = new Set([
  'token',
  'password',
  'passwordhash',
  'authorization',
  'cookie',
  'secret',
  'apikey',
  'instanceid',
  'instancekey',
  'remotes-instance-id',
  'args',
  'arguments',
  'result',
]);

const REDACTED = '[redacted]';

/** How deep is looked, and at how many values; what lies beyond is left out, so that no object is too large to log. */
const MAX_DEPTH = 6;
const MAX_VALUES = 1_000;

interface Budget {
  values: number;
}

/**
 * The fields of a log line without secrets and without what calls carry: a second line of defence, since nothing of
 * that is logged in the first place. What holds none is given back as it is.
 */
export function redact(fields: Record<string, unknown>): Record<string, unknown> {
  return redactFields(fields, MAX_DEPTH, { values: MAX_VALUES });
}

function redactFields(
  fields: Record<string, unknown>,
  depth: number,
  budget: Budget,
): Record<string, unknown> {
  let clean: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const shown = hidden.has(name.toLowerCase()) ? REDACTED : redactValue(value, depth, budget);
    if (shown === value) continue;
    clean ??= { ...fields };
    clean[name] = shown;
  }
  return clean ?? fields;
}

function redactValue(value: unknown, depth: number, budget: Budget): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // errors are written by their serializer, which gives them here as fields; a text of its own is written as that
  if (value instanceof Error || ('toJSON' in value && typeof value.toJSON === 'function')) return value;
  budget.values -= 1;
  if (depth === 0 || budget.values < 0) return REDACTED;
  if (!Array.isArray(value)) return redactFields({ ...value }, depth - 1, budget);
  return value.map((item) => redactValue(item, depth - 1, budget));
}
