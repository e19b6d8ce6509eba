import type * as z from 'zod';

/** What messages of a call leave to their text. */
const asText: ReadonlySet<string> = new Set(['nonce', 'result', 'progress', 'args']);

/** A message without what it leaves to its text, as its schema reads it; `undefined` when that refuses it. */
export function readBySchema(text: string, schema: z.ZodType<object>): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) return undefined;
  const { body: fields, ...rest } = withoutTexts({ body: undefined, ...parsed.data });
  return typeof fields === 'object' && fields !== null ? { ...rest, body: withoutTexts(fields) } : rest;
}

function withoutTexts(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !asText.has(name)));
}
