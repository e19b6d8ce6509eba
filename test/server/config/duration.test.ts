import { expect, test } from 'vitest';
import { parseDuration } from '../../../server/src/config/duration.js';

test.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['1h', 3_600_000],
  ['1.5h', 5_400_000],
  ['7d', 604_800_000],
  [' 2s ', 2_000],
  ['1ms', 1],
])('%s is %i ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each([
  '',
  '1',
  'h',
  '1 h',
  '-1s',
  '0s',
  '0.1ms',
  '1e3s',
  '1H',
  '1h30m',
  '1w',
  'NaNs',
  '999999999999999d',
  '١s',
])('%j is refused', (text) => {
  expect(() => parseDuration(text)).toThrow('expected a duration such as 500ms, 90s, 30m, 1h or 7d');
});
