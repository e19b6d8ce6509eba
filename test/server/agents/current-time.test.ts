import { expect, test } from 'vitest';
import { builtInTools } from '../../../server/src/agents/native-tools.js';
import { nativeToolNames } from '../../../server/src/config/config-schema.js';

const signal = new AbortController().signal;

function currentTime(
  args: Record<string, string | number | null>,
  now = Date.UTC(2026, 9, 5, 22, 3, 9),
): unknown {
  return builtInTools(() => now)
    .get('current_time')
    ?.run(args, { signal });
}

test('every native tool that a configuration may name is there, under its own name', () => {
  const tools = builtInTools();
  expect([...tools.keys()]).toEqual([...nativeToolNames]);
  for (const [name, { spec }] of tools) expect(spec.name).toBe(name);
});

test('current_time is in UTC when no zone is asked for', () => {
  expect(currentTime({})).toEqual({
    iso: '2026-10-05T22:03:09.000Z',
    timeZone: 'UTC',
    local: '2026-10-05T22:03:09+00:00',
    weekday: 'Monday',
  });
});

test('current_time is local in a zone, with the offset of that day', () => {
  expect(currentTime({ timeZone: 'Europe/Rome' })).toMatchObject({
    timeZone: 'Europe/Rome',
    local: '2026-10-06T00:03:09+02:00',
    weekday: 'Tuesday',
  });
  expect(currentTime({ timeZone: 'Europe/Rome' }, Date.UTC(2026, 0, 5))).toMatchObject({
    local: '2026-01-05T01:00:00+01:00',
  });
});

test.each([
  [
    { timeZone: 'Mars/Base' },
    "arguments of current_time: /timeZone: expected an IANA time zone such as Europe/Rome, received 'Mars/Base'",
  ],
  [{ timeZone: 5 }, 'arguments of current_time: /timeZone: expected string, received number'],
  [
    { timeZone: 'x'.repeat(65) },
    'arguments of current_time: /timeZone: Too big: expected string to have <=64 characters',
  ],
  [{ zone: 'UTC' }, 'arguments of current_time: Unrecognized key: "zone"'],
])('current_time refuses %j', (args, message) => {
  expect(() => currentTime(args)).toThrow(expect.objectContaining({ code: 'invalid-arguments', message }));
});
