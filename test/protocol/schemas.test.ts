// SPEC-03: the schemas accept and refuse what the specification says. What the hub does with it is proved there,
// so no case of the hub is cited here.
import {
  MAX_CALL_TIMEOUT_MS,
  MAX_DESCRIPTION_LENGTH,
  MAX_FUNCTIONS_PER_REMOTE,
  MAX_INSTRUCTION_LENGTH,
  MAX_NAME_LENGTH,
  MAX_RESUME_MS,
  authenticateSchema,
  authenticatedReplySchema,
  errorReplySchema,
  functionSpecSchema,
  functionSpecsSchema,
  remoteCallCancelSchema,
  remoteCallResultSchema,
  remoteCallSchema,
  remoteConnectSchema,
  remoteDisconnectSchema,
  remoteListSchema,
  remoteSelectionSchema,
  sendAgentPromptSchema,
  sessionClosingEventSchema,
} from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import type * as z from 'zod';

/** Why a value does not fit, path first; empty when it does. */
function faults(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

const call = (body: object): object => ({ action: 'remote-call', body });
const connect = (tools: unknown): object => ({ action: 'remote-connect', body: { remotename: 'x', tools } });
const login = (body: unknown): object => ({ action: 'authenticate', body });
const prompt = (body: object): object => ({
  action: 'send-agent-prompt',
  body: { agentId: 7, instruction: 'hi', ...body },
});

const oddNames = [
  '#',
  'a#1',
  'a b',
  '/',
  '读取',
  '9lives',
  '\0',
  '__proto__',
  'constructor',
  'hasOwnProperty',
];

// odd names are names
test.each([...oddNames, 'x'.repeat(MAX_NAME_LENGTH)])('%j names a remote and a function', (name) => {
  expect(faults(remoteCallSchema, call({ remotename: name, function: name }))).toEqual([]);
  expect(faults(remoteDisconnectSchema, { action: 'remote-disconnect', body: { remotename: name } })).toEqual(
    [],
  );
  expect(faults(functionSpecsSchema, [{ name }])).toEqual([]);
});

test.each(['', 'x'.repeat(MAX_NAME_LENGTH + 1), 7, null, undefined, ['x'], {}])('%j is no name', (name) => {
  expect(faults(remoteCallSchema, call({ remotename: name, function: 'f' }))[0]).toMatch(
    /^body\.remotename: /u,
  );
  expect(faults(remoteCallSchema, call({ remotename: 'x', function: name }))[0]).toMatch(
    /^body\.function: /u,
  );
  expect(faults(functionSpecSchema, { name })[0]).toMatch(/^name: /u);
});

// any JSON value is a nonce and stays what it is
test.each([0, '', null, 1.5, false, [], { a: 1 }, 'n1'])('the nonce %j comes through as it is', (nonce) => {
  expect(remoteListSchema.parse({ action: 'remote-list', nonce })).toStrictEqual({
    action: 'remote-list',
    nonce,
  });
  const cancel = { action: 'remote-call-cancel', nonce, body: { nonce } };
  expect(remoteCallCancelSchema.parse(cancel)).toStrictEqual(cancel);
});

test('remote-call-cancel without a nonce in its body is refused', () => {
  expect(faults(remoteCallCancelSchema, { action: 'remote-call-cancel', body: {} })[0]).toMatch(
    /^body\.nonce: /u,
  );
});

// args are an object or absent
test.each([undefined, {}, { city: 'Rome' }])('args may be %j', (args) => {
  expect(faults(remoteCallSchema, call({ remotename: 'x', function: 'f', args }))).toEqual([]);
});

test.each([
  [null, 'null'],
  ['[]', 'string'],
  [5, 'number'],
  [true, 'boolean'],
  [[1], 'array'],
])('args may not be %j', (args, kind) => {
  const message = call({ remotename: 'x', function: 'f', args });
  expect(faults(remoteCallSchema, message)).toEqual([`body.args: expected object, received ${kind}`]);
});

// tools are an array of functions with different names
test('tools may be empty, and as many as the limit', () => {
  const specs = Array.from({ length: MAX_FUNCTIONS_PER_REMOTE }, (_, index) => ({ name: `f${index}` }));
  expect(faults(remoteConnectSchema, connect([]))).toEqual([]);
  expect(faults(remoteConnectSchema, connect(specs))).toEqual([]);
  expect(faults(remoteConnectSchema, connect([...specs, { name: 'g' }]))[0]).toMatch(/^body\.tools: /u);
});

test.each([undefined, null, {}, 'f', 5])('tools may not be %j', (tools) => {
  expect(faults(remoteConnectSchema, connect(tools))[0]).toMatch(/^body\.tools: /u);
});

test('a function that is listed twice is refused by name', () => {
  const message = connect([{ name: 'f' }, { name: 'g' }, { name: 'f' }]);
  expect(faults(remoteConnectSchema, message)).toEqual([`body.tools.2.name: function 'f' is listed twice`]);
});

test.each(['__proto__', 'constructor'])('functions named %s are told apart like others', (name) => {
  expect(faults(functionSpecsSchema, [{ name }])).toEqual([]);
  expect(faults(functionSpecsSchema, [{ name }, { name }])).toEqual([
    `1.name: function '${name}' is listed twice`,
  ]);
});

// parameters may say nothing
test.each([{ type: 'object' }, {}, null, undefined])('parameters may be %j', (parameters) => {
  expect(faults(functionSpecSchema, { name: 'f', parameters })).toEqual([]);
});

test.each([[[]], ['object'], [true], [5]])('parameters may not be %j', (parameters) => {
  expect(faults(functionSpecSchema, { name: 'f', parameters })[0]).toMatch(/^parameters: expected object/u);
});

test.each([
  { description: 'x'.repeat(MAX_DESCRIPTION_LENGTH) },
  { description: null },
  { verb: 'get' },
  { verb: 'delete' },
  { timeoutMs: 1 },
  { timeoutMs: MAX_CALL_TIMEOUT_MS },
  { maxCalls: 10_000 },
  { result: {} },
  { version: '1' },
  { preview: false },
  { 'x-mine': { any: 'thing' } },
])('a function spec may have $description$verb$timeoutMs$maxCalls (%#)', (fields) => {
  expect(faults(functionSpecSchema, { name: 'f', ...fields })).toEqual([]);
});

test.each([
  ['description', 'x'.repeat(MAX_DESCRIPTION_LENGTH + 1)],
  ['verb', 'read'],
  ['timeoutMs', 0],
  ['timeoutMs', 1.5],
  ['timeoutMs', MAX_CALL_TIMEOUT_MS + 1],
  ['maxCalls', 0],
  ['result', null],
  ['version', ''],
  ['preview', 'yes'],
])('a function spec whose %s does not fit is refused (%#)', (field, value) => {
  expect(faults(functionSpecSchema, { name: 'f', [field]: value })[0]).toMatch(
    new RegExp(`^${field}: `, 'u'),
  );
});

test.each([
  [1, true],
  [MAX_CALL_TIMEOUT_MS, true],
  [0, false],
  [-1, false],
  [1.5, false],
  ['5', false],
  [null, false],
  [MAX_CALL_TIMEOUT_MS + 1, false],
])('a call with timeoutMs %j: fits %s', (timeoutMs, fits) => {
  expect(faults(remoteCallSchema, call({ remotename: 'x', function: 'f', timeoutMs })).length === 0).toBe(
    fits,
  );
});

test('own __proto__ keys survive in args, in results and in schemas', () => {
  const message: unknown = JSON.parse(
    '{"action":"remote-call","body":{"remotename":"x","function":"f","args":{"__proto__":{"a":1}}}}',
  );
  const { args } = remoteCallSchema.parse(message).body;
  expect(JSON.stringify(args)).toBe('{"__proto__":{"a":1}}');
  const answer: unknown = JSON.parse('{"action":"remote-call-result","result":{"__proto__":null}}');
  expect(JSON.stringify(remoteCallResultSchema.parse(answer).result)).toBe('{"__proto__":null}');
  const spec: unknown = JSON.parse(
    '{"name":"f","parameters":{"properties":{"__proto__":{"type":"string"}}}}',
  );
  const { parameters } = functionSpecSchema.parse(spec);
  expect(JSON.stringify(parameters)).toBe('{"properties":{"__proto__":{"type":"string"}}}');
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

test.each([
  { token: 't' },
  { username: 'ada', password: 'secret' },
  { token: 't', instanceId: 'x'.repeat(16) },
  { username: 'ada', password: 'secret', instanceId: 'x'.repeat(128) },
])('%j are credentials', (body) => {
  expect(authenticateSchema.parse(login(body)).body).toStrictEqual(body);
});

test.each([
  undefined,
  null,
  't',
  {},
  { token: '' },
  { token: 7 },
  { token: 'x'.repeat(16_385) },
  { username: 'ada' },
  { password: 'secret' },
  { username: '', password: 'secret' },
  { username: 'ada', password: '' },
  { username: 'x'.repeat(257), password: 'secret' },
  { username: 'ada', password: 'x'.repeat(1_025) },
  { token: 't', instanceId: 'x'.repeat(15) },
  { token: 't', instanceId: 'x'.repeat(129) },
  { token: 't', instanceId: 7 },
])('credentials that do not fit are refused (%#)', (body) => {
  expect(faults(authenticateSchema, login(body))).not.toEqual([]);
});

test('a refusal of credentials holds none of them', () => {
  const text = faults(authenticateSchema, login({ username: 'ada', password: ['s3cret'] })).join();
  expect(text).toBe('body: expected {token} or {username, password}, non-empty strings');
});

// an answer of any shape is read, so that it can settle its call or be ignored
test.each([
  { requestId: 'x#0', result: null, error: null },
  { requestId: 'x#0', error: '' },
  { requestId: 'x#0' },
  { requestId: 'x#0', result: 1, error: 'bad' },
  { requestId: 0, result: 1 },
  { result: 1 },
  { requestId: 'x#0', error: { code: 7 }, executed: 'unknown' },
])('%j is an answer', (fields) => {
  const answer = { action: 'remote-call-result', ...fields };
  expect(remoteCallResultSchema.parse(answer)).toStrictEqual(answer);
});

test('an executed that is none of the three counts as absent', () => {
  const answer = { action: 'remote-call-result', requestId: 'x#0', error: 'bad', executed: 'maybe' };
  expect(remoteCallResultSchema.parse(answer).executed).toBeUndefined();
});

test.each([
  {},
  { options: null },
  { options: {} },
  { options: { remotes: 'x', other: 1 } },
  { agentId: '7' },
  { instruction: 'x'.repeat(MAX_INSTRUCTION_LENGTH) },
])('a prompt may be so (%#)', (body) => {
  expect(faults(sendAgentPromptSchema, prompt(body))).toEqual([]);
});

test.each([
  ['agentId', null],
  ['agentId', ''],
  ['agentId', 1.5],
  ['instruction', ''],
  ['instruction', 'x'.repeat(MAX_INSTRUCTION_LENGTH + 1)],
  ['options', []],
  ['options', 'x'],
])('a prompt whose %s does not fit is refused (%#)', (field, value) => {
  expect(faults(sendAgentPromptSchema, prompt({ [field]: value }))[0]).toMatch(
    new RegExp(`^body\\.${field}: `, 'u'),
  );
});

// what an entry of options.remotes may be
test.each([
  ['x', true],
  [{ name: 'x' }, true],
  [{ name: 'x', prefix: '' }, true],
  [{ name: 'x', prefix: 'p_' }, true],
  [5, false],
  [null, false],
  ['', false],
  [{ prefix: 'p' }, false],
  [{ name: '' }, false],
  [{ name: 'x', prefix: 7 }, false],
])('%j chooses a remote: %s', (entry, fits) => {
  expect(faults(remoteSelectionSchema, entry).length === 0).toBe(fits);
});

test('an error reply needs a text and a code of the list', () => {
  expect(faults(errorReplySchema, { error: 'x', code: 'call-timeout' })).toEqual([]);
  expect(faults(errorReplySchema, { error: '', code: 'call-timeout' })[0]).toMatch(/^error: /u);
  expect(faults(errorReplySchema, { error: 'x', code: 'no-such-code' })[0]).toMatch(/^code: /u);
});

test('a fault names the path and says what was expected and received', () => {
  const [fault] = faults(remoteCallSchema, call({ remotename: 7, function: 'f' }));
  expect(fault).toBe('body.remotename: Invalid input: expected string, received number');
});

test.each([undefined, 0, 1, MAX_RESUME_MS])('resumeMs %j fits a remote-connect', (resumeMs) => {
  const body = { remotename: 'x', tools: [], resumeMs };
  expect(faults(remoteConnectSchema, { action: 'remote-connect', body })).toEqual([]);
});

test.each([-1, 0.5, MAX_RESUME_MS + 1, '1', null])('resumeMs %j does not', (resumeMs) => {
  const body = { remotename: 'x', tools: [], resumeMs };
  expect(faults(remoteConnectSchema, { action: 'remote-connect', body })[0]).toMatch(/^body\.resumeMs: /u);
});

test('a login reply says resumed: true or nothing of it', () => {
  const reply = { message: 'authenticated', userId: 'u', sessionId: 's', maxMessageBytes: 1 };
  expect(faults(authenticatedReplySchema, reply)).toEqual([]);
  expect(faults(authenticatedReplySchema, { ...reply, resumed: true })).toEqual([]);
  expect(faults(authenticatedReplySchema, { ...reply, resumed: false })[0]).toMatch(/^resumed: /u);
});

test.each([-1, 0.5, undefined])('reconnectAfterMs %j does not fit a session-closing', (reconnectAfterMs) => {
  const event = { action: 'session-closing', body: { sessionId: 's', reconnectAfterMs } };
  expect(faults(sessionClosingEventSchema, event)[0]).toMatch(/^body\.reconnectAfterMs: /u);
});
