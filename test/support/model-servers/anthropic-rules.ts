import * as z from 'zod';

/** What Anthropic documents of a request of the Messages API, as far as the hub uses it. */
const textBlock = z.strictObject({ type: z.literal('text'), text: z.string().regex(/\S/u, 'blank text') });
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/u, 'illegal id'),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/u, 'illegal name'),
  input: z.record(z.string(), z.unknown()),
});
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.string(),
  is_error: z.boolean().optional(),
});
const thinking = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().min(1, 'unsigned thinking'),
});
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) });

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.array(z.discriminatedUnion('type', [textBlock, toolResult])).min(1),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [textBlock, toolUse, thinking, redacted])).min(1),
  }),
]);
type Message = z.infer<typeof message>;

const inputSchema = z
  .looseObject({ type: z.literal('object') })
  .refine(
    (schema) => !['oneOf', 'anyOf', 'allOf'].some((key) => Object.hasOwn(schema, key)),
    'top-level union',
  );

const request = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  stream: z.literal(true),
  system: z.string().regex(/\S/u, 'blank system').optional(),
  messages: z.array(message).min(1),
  tools: z
    .array(z.strictObject({ name: toolUse.shape.name, description: z.string(), input_schema: inputSchema }))
    .min(1)
    .optional(),
});

/** Why Anthropic would answer a request with 400; empty when it would not. */
export function anthropicFaults(body: unknown): string[] {
  const parsed = request.safeParse(body);
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message: why }) => `${path.join('.')}: ${why}`);
  const { messages, tools = [] } = parsed.data;
  const names = tools.map(({ name }) => name);
  return [
    ...(new Set(names).size === names.length ? [] : ['tools: a name twice']),
    ...turnFaults(messages),
    ...messages.flatMap((current, index) => callFaults(current, messages[index - 1], index)),
    ...idFaults(messages),
  ];
}

function turnFaults(messages: readonly Message[]): string[] {
  const faults = messages.flatMap(({ role }, index) =>
    role === (index % 2 === 0 ? 'user' : 'assistant')
      ? []
      : [`messages.${index}: user and assistant not in turn`],
  );
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'assistant' && /thinking/u.test(content.at(-1)?.type ?? ''))
      faults.push(`messages.${index}: ends with thinking`);
  }
  return messages.at(-1)?.role === 'user' ? faults : [...faults, 'messages: the last one is not of the user'];
}

/** A user message begins with exactly the results of the calls before it, and has no others. */
function callFaults(current: Message, previous: Message | undefined, index: number): string[] {
  if (current.role === 'assistant') return [];
  const calls = previous === undefined ? [] : callIds(previous);
  const beginning = current.content.slice(0, calls.length);
  const answered = beginning.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
  const faults =
    answered.toSorted().join() === calls.toSorted().join() ? [] : [`messages.${index}: unanswered calls`];
  const others = current.content.slice(calls.length).some(({ type }) => type === 'tool_result');
  return others ? [...faults, `messages.${index}: a result without a call`] : faults;
}

function idFaults(messages: readonly Message[]): string[] {
  const ids = messages.flatMap(callIds);
  return new Set(ids).size === ids.length ? [] : ['messages: ids of calls are not unique'];
}

function callIds({ content }: Message): string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}
