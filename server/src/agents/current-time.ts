import type { JsonObject } from '@remotes-hub/protocol';
import * as z from 'zod';
import { RemoteError } from '../remotes/remote-error.js';
import type { NativeTool } from './native-tool.js';

const NAME = 'current_time';

const argumentsSchema = z.strictObject({
  timeZone: z.string().min(1).max(64).optional(),
});

/**
 * The native tool `current_time`: `{iso, timeZone, local, weekday}`, where `iso` is the time in UTC, `timeZone`
 * the zone asked for (UTC when none is) and `local` the time there with its offset.
 */
export function currentTime(now: () => number): NativeTool {
  return {
    spec: {
      name: NAME,
      description: 'Tells the current date and time, in UTC or in a time zone.',
      parameters: {
        type: 'object',
        properties: {
          timeZone: { type: 'string', description: 'IANA time zone, such as Europe/Rome. UTC when absent.' },
        },
        additionalProperties: false,
      },
      verb: 'get',
    },
    run: (args) => {
      const format = formatFor(readTimeZone(args));
      const time = new Date(now());
      const part = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
      const field = (type: Intl.DateTimeFormatPartTypes) => part.get(type) ?? '';
      const offset = field('timeZoneName').replace('GMT', '') || '+00:00';
      const date = `${field('year')}-${field('month')}-${field('day')}`;
      return {
        iso: time.toISOString(),
        timeZone: format.resolvedOptions().timeZone,
        local: `${date}T${field('hour')}:${field('minute')}:${field('second')}${offset}`,
        weekday: field('weekday'),
      };
    },
  };
}

function readTimeZone(args: JsonObject): string {
  const parsed = argumentsSchema.safeParse(args);
  if (parsed.success) return parsed.data.timeZone ?? 'UTC';
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((key) => `/${String(key)}: `).join('');
  throw invalid(`${path}${issue?.message.replace(/^Invalid input: /u, '') ?? 'invalid'}`);
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
  } catch (cause) {
    throw invalid(`/timeZone: expected an IANA time zone such as Europe/Rome, received '${timeZone}'`, {
      cause,
    });
  }
}

function invalid(reason: string, options?: ErrorOptions): RemoteError {
  return new RemoteError('invalid-arguments', `arguments of ${NAME}: ${reason}`, options);
}
