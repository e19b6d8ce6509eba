import { expect, test } from 'vitest';
import * as z from 'zod';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { AuthenticationError, invalidCredentials } from '../../../server/src/authentication/authenticate.js';
import { EnvelopeError } from '../../../server/src/sessions/envelope.js';
import { describeIssues, errorFields, failureFields } from '../../../server/src/sessions/error-replies.js';
import { writeJson } from '../../../server/src/json/json-text.js';

/** The fields as they leave: absent where they are undefined. */
const sent = (fields: Parameters<typeof writeJson>[0]): unknown => JSON.parse(writeJson(fields));

const issuesOf = (schema: z.ZodType, value: unknown): string =>
  describeIssues(schema.safeParse(value).error?.issues ?? []);

test('a refused login says its code and text, with the time to wait where there is one, and never its reason', () => {
  expect(sent(failureFields(invalidCredentials('no such user'), false))).toEqual({
    error: 'invalid credentials',
    code: 'invalid-credentials',
  });
  expect(sent(failureFields(new AuthenticationError('rate-limited', 'wait', 7), true))).toEqual({
    error: 'wait',
    code: 'rate-limited',
    retryAfterMs: 7,
  });
});

test('a failed call says whether the function ran, another request does not', () => {
  const error = new RemoteError('remote-not-connected', 'no');
  expect(sent(failureFields(error, true))).toEqual({
    error: 'no',
    code: 'remote-not-connected',
    executed: 'no',
    retryable: true,
  });
  expect(sent(failureFields(error, false))).toEqual({ error: 'no', code: 'remote-not-connected' });
  const frame = new EnvelopeError('malformed-message', 'too deep');
  expect(sent(failureFields(frame, true))).toEqual({
    error: 'too deep',
    code: 'malformed-message',
    executed: 'no',
    retryable: false,
  });
});

test.each([
  ['an error', new Error('secret')],
  ['an error with a code of its own', Object.assign(new Error('secret'), { code: 'rate-limited' })],
  ['a text', 'secret'],
  ['nothing', undefined],
])('%s becomes one generic sentence', (_what, failure) => {
  const generic = { error: 'the hub failed; this was logged', code: 'internal-error' };
  expect(sent(failureFields(failure, false))).toEqual(generic);
  expect(sent(failureFields(failure, true))).toEqual({ ...generic, executed: 'unknown', retryable: false });
});

test('a text is cut to 1000 characters', () => {
  expect(errorFields('invalid-body', 'x'.repeat(5_000))['error']).toHaveLength(1_000);
});

test('a fault is told path first, then what was expected and what was received', () => {
  const schema = z.object({ body: z.object({ tools: z.array(z.object({ name: z.string() })) }) });
  expect(issuesOf(schema, { body: { tools: [{ name: 'a' }, { name: null }] } })).toBe(
    'body.tools[1].name: expected string, received null',
  );
  expect(issuesOf(schema, 7)).toBe('expected object, received number');
  expect(issuesOf(z.array(z.string()), [7])).toBe('[0]: expected string, received number');
});

test('of many faults three are told, and how many more there are', () => {
  const schema = z.array(z.string());
  expect(issuesOf(schema, [1, 2, 3])).not.toContain('more');
  expect(issuesOf(schema, [1, 2, 3, 4, 5])).toMatch(/^\[0\]: .*; \[1\]: .*; \[2\]: .*; and 2 more$/u);
});

test('long keys and texts from outside are cut', () => {
  const schema = z.record(
    z.string(),
    z.string().refine(() => false, { error: 't'.repeat(1_000) }),
  );
  const text = issuesOf(schema, { ['k'.repeat(1_000)]: 'x' });
  expect(text).toBe(`${'k'.repeat(64)}: ${'t'.repeat(300)}`);
});

test('the value itself is never quoted', () => {
  const schema = z.object({ password: z.string().max(3), kind: z.enum(['a', 'b']), n: z.int() });
  const text = issuesOf(schema, { password: 'swordfish', kind: 'swordfish', n: 'swordfish' });
  expect(text).toContain('password: ');
  expect(text).not.toContain('swordfish');
});
