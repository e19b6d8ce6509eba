import { expect, test } from 'vitest';
import { createLogger } from '../../../server/src/observability/logger.js';
import { redact } from '../../../server/src/observability/redaction.js';

/** What a logger writes, parsed. */
function written(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('trace', { write: (line) => void lines.push(line) }).info(fields, 'text');
  return JSON.parse(lines.join('')) as Record<string, unknown>;
}

test('OBS-03: what bears the name of a secret is not shown, however deep and in whatever case', () => {
  const shown = written({
    userId: 'u1',
    token: 's3cret',
    request: { headers: { Authorization: 's3cret', 'remotes-instance-id': 's3cret', host: 'h' } },
    list: [{ apiKey: 's3cret' }, { args: { a: 's3cret' } }],
  });
  expect(shown).toMatchObject({ userId: 'u1', token: '[redacted]', request: { headers: { host: 'h' } } });
  expect(JSON.stringify(shown)).not.toContain('s3cret');
});

test('OBS-03: an error is shown with its message and fields, but for those', () => {
  const cause = new Error('why');
  const error = Object.assign(new Error('what', { cause }), {
    code: 'E1',
    config: { headers: { authorization: 's3cret' } },
    password: 's3cret',
  });
  const { err } = written({ err: error });
  expect(err).toMatchObject({ type: 'Error', message: 'what: why', code: 'E1', password: '[redacted]' });
  expect(JSON.stringify(err)).not.toContain('s3cret');
});

test('whatever was thrown can be logged', () => {
  expect(written({ err: 'a text' })['err']).toBe('a text');
  expect(written({ err: undefined })).not.toHaveProperty('err');
  expect(written({ err: { reason: 1, token: 's3cret' } })['err']).toEqual({ reason: 1, token: '[redacted]' });
});

test('fields without secrets are written as they are, dates too', () => {
  const fields = { a: 1, at: new Date(0), list: [1, [2]] };
  expect(redact(fields)).toEqual(fields);
  expect(written(fields)).toMatchObject({ a: 1, at: '1970-01-01T00:00:00.000Z', list: [1, [2]] });
});

test('an object that is endless or huge is cut off', () => {
  const endless: Record<string, unknown> = { name: 'n', password: 's3cret' };
  endless['self'] = endless;
  endless['list'] = Array.from({ length: 5_000 }, () => ({ again: endless }));
  const text = JSON.stringify(redact(endless));
  expect(text).not.toContain('s3cret');
  expect(text.length).toBeLessThan(1_000_000);
});
