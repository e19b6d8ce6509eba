import type { RedisServer } from '../support/redis.js';

/** How often each command was executed since the server started, by its name in lower case. */
export async function commandCounts(redis: RedisServer): Promise<ReadonlyMap<string, number>> {
  const info = await redis.command('INFO commandstats');
  const lines = info.matchAll(/^cmdstat_(?<name>\S+?):calls=(?<calls>\d+)/gmu);
  return new Map(Array.from(lines, ({ groups }) => [groups?.['name'] ?? '', Number(groups?.['calls'])]));
}

/** What was executed more often by now, without what this question itself costs. */
export async function executedSince(
  redis: RedisServer,
  before: ReadonlyMap<string, number>,
): Promise<Record<string, number>> {
  const executed: Record<string, number> = {};
  for (const [name, calls] of await commandCounts(redis)) {
    const more = calls - (before.get(name) ?? 0);
    if (more > 0 && name !== 'info' && name !== 'quit') executed[name] = more;
  }
  return executed;
}
