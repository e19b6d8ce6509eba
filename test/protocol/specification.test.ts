// SPEC-01 SPEC-02
import { readFileSync } from 'node:fs';
import {
  agentListReplySchema,
  authenticatedReplySchema,
  closeCodes,
  credentialsSchema,
  errorCodes,
  errorReplySchema,
  hubMessageSchemas,
  pongReplySchema,
  promptAcceptedReplySchema,
  remoteCallCancelledReplySchema,
  remoteCallReplySchema,
  remoteConnectedReplySchema,
  remoteDisconnectedReplySchema,
  remoteLintReplySchema,
  remoteListReplySchema,
  runCancelledReplySchema,
  runFailureCodes,
  runFinishReasons,
  runGetReplySchema,
  sessionMessageSchemas,
  type ErrorCode,
  type SessionAction,
} from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import * as z from 'zod';
// the file itself: its constants are compared by name, so none may be missing
import * as limits from '../../protocol/src/limits.js';
import { limitsSchema } from '../../server/src/config/config-schema.js';
import { RemoteError } from '../../server/src/remotes/remote-error.js';
import { anchorOf, examplesOf, headingsOf, tablesUnder, withoutTicks } from './markdown.js';

const specification = readFileSync(new URL('../../protocol/README.md', import.meta.url), 'utf8');
const examples = examplesOf(specification);

/** Actions whose messages are never answered have no reply. */
type AnsweredAction = Exclude<SessionAction, 'remote-call-result' | 'remote-call-progress'>;

const replySchemas: Readonly<Record<AnsweredAction, z.ZodType>> = {
  authenticate: authenticatedReplySchema,
  ping: pongReplySchema,
  'remote-connect': remoteConnectedReplySchema,
  'remote-disconnect': remoteDisconnectedReplySchema,
  'remote-list': remoteListReplySchema,
  'remote-lint': remoteLintReplySchema,
  'remote-call': remoteCallReplySchema,
  'remote-call-cancel': remoteCallCancelledReplySchema,
  'agent-list': agentListReplySchema,
  'send-agent-prompt': promptAcceptedReplySchema,
  'run-cancel': runCancelledReplySchema,
  'run-get': runGetReplySchema,
};

/** What an example may be called, and the schema that it must fit. */
const schemas: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ...Object.entries(sessionMessageSchemas).map(([action, schema]) => [`session: ${action}`, schema] as const),
  ...Object.entries(hubMessageSchemas).map(([action, schema]) => [`hub: ${action}`, schema] as const),
  ...Object.entries(replySchemas).map(([action, schema]) => [`reply: ${action}`, schema] as const),
  ['reply: error', errorReplySchema],
  ['http: credentials', credentialsSchema],
  ['http: token', z.object({ token: z.string(), expiresAt: z.int(), tokenType: z.literal('Bearer') })],
]);

/** What a failed call says when nothing is known but its code. */
function impliedBy(code: ErrorCode): Pick<RemoteError, 'code' | 'executed' | 'retryable'> {
  const { executed, retryable } = new RemoteError(code, 'for its defaults');
  return { code, executed, retryable };
}

test('every JSON block of the specification says what it is an example of', () => {
  expect(examples.filter(({ kind }) => !schemas.has(kind))).toEqual([]);
});

test('every message, every reply and every HTTP body has an example', () => {
  const shown = new Set(examples.map(({ kind }) => kind));
  expect([...schemas.keys()].filter((kind) => !shown.has(kind))).toEqual([]);
});

test.each(examples.map(({ kind, line, text }) => [kind, line, text] as const))(
  'the example %s in line %i fits its schema and has no field that the schema does not know',
  (kind, _line, text) => {
    const value: unknown = JSON.parse(text);
    // schemas drop what they do not know, so the outcome differs from an example with such a field
    expect(schemas.get(kind)?.parse(value)).toStrictEqual(value);
    const action = /^(?:session|hub): (.*)$/u.exec(kind)?.[1];
    if (action !== undefined) expect(value).toHaveProperty('action', action);
  },
);

test('every error reply of the examples says executed and retryable as its code implies', () => {
  const replies = examples
    .filter(({ kind }) => kind === 'reply: error')
    .map(({ text }) => errorReplySchema.parse(JSON.parse(text)))
    .filter(({ executed }) => executed !== undefined);
  expect(replies.map(({ code, executed, retryable }) => ({ code, executed, retryable }))).toEqual(
    replies.map(({ code }) => impliedBy(code)),
  );
});

test('every action has a section', () => {
  const headings = new Set(headingsOf(specification));
  const actions = [...Object.keys(sessionMessageSchemas), ...Object.keys(hubMessageSchemas)];
  expect(actions.filter((action) => !headings.has(action))).toEqual([]);
  const both = Object.keys(hubMessageSchemas).filter((action) => action in sessionMessageSchemas);
  expect(both.filter((action) => !headings.has(`${action}, forwarded`))).toEqual([]);
});

test('no two sections share a heading, and every link within the page leads to one', () => {
  const headings = headingsOf(specification);
  expect(headings).toEqual([...new Set(headings)]);
  const anchors = new Set(headings.map(anchorOf));
  const links = [...specification.matchAll(/\]\(#([^)]*)\)/gu)].map(([, anchor]) => anchor ?? '');
  expect(links.filter((anchor) => !anchors.has(anchor))).toEqual([]);
});

test('the table of error codes is the list of error codes', () => {
  const [rows = []] = tablesUnder(specification, 'Error codes');
  expect(rows.map(([code = '']) => withoutTicks(code))).toEqual([...errorCodes]);
});

test('the table of error codes tells executed and retryable as the hub does', () => {
  const [rows = []] = tablesUnder(specification, 'Error codes');
  const shown = rows.map(([code = '', , executed, retryable]) => [withoutTicks(code), executed, retryable]);
  const real = errorCodes.map(impliedBy);
  expect(shown).toEqual(
    real.map(({ code, executed, retryable }) => [code, executed, retryable ? 'yes' : 'no']),
  );
});

test('the table of codes of a run is the list of them', () => {
  const [, rows = []] = tablesUnder(specification, 'Life of a run');
  expect(rows.map(([code = '']) => withoutTicks(code))).toEqual([...runFailureCodes]);
});

test('the table of close codes is the list of close codes', () => {
  const [rows = []] = tablesUnder(specification, 'Close codes');
  const shown = rows.map(([code, name = '']) => [withoutTicks(name), Number(code)]);
  expect(Object.fromEntries(shown)).toEqual(closeCodes);
  expect(shown).toHaveLength(Object.keys(closeCodes).length);
});

test('the table of protocol limits is the list of limits, with their values', () => {
  const [rows = []] = tablesUnder(specification, 'Limits');
  const shown = rows.map(([name = '', value]) => [withoutTicks(name), value]);
  expect(shown).toHaveLength(Object.keys(limits).length);
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)])),
  );
});

test("the table of a hub's limits is the list in its configuration, with the defaults", () => {
  const [, rows = []] = tablesUnder(specification, 'Limits');
  const shown = rows.map(([name = '', value]) => [withoutTicks(name), value]);
  const defaults = Object.entries(limitsSchema.parse({}));
  expect(shown).toEqual(defaults.map(([name, value]) => [name, String(value)]));
});

test('every code that the text names is one of the list', () => {
  const named = [...specification.matchAll(/`([a-z]+(?:-[a-z]+)+)`/gu)].map(([, word]) => word ?? '');
  const known = new Set<string>([
    ...errorCodes,
    ...runFailureCodes,
    ...runFinishReasons,
    ...Object.keys(sessionMessageSchemas),
    ...Object.keys(hubMessageSchemas),
    'caller-gone',
    'step-limit',
  ]);
  expect([...new Set(named)].filter((word) => !known.has(word))).toEqual([]);
});
