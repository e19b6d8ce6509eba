import { isName, type Clause } from './clause.js';

/** A time zone that is named (`Europe/Rome`, `UTC`), or the one of a city that has its own (`Rome`). */
export function findZone(clause: Clause): string | undefined {
  const zones = zonesByName();
  const named = clause.find(
    ({ kind, lower }) => kind !== 'mark' && (lower.includes('/') || lower === 'utc') && zones.has(lower),
  );
  if (named !== undefined) return zones.get(clause.take(named).toLowerCase());
  for (const [index, token] of clause.tokens.entries()) {
    if (clause.at(index) === undefined || !isName(token)) continue;
    const city = clause.nameFrom(index);
    const zone = zones.get(city.text.toLowerCase());
    if (zone !== undefined) {
      clause.take(city);
      return zone;
    }
  }
  return undefined;
}

function zonesByName(): ReadonlyMap<string, string> {
  const zones = new Map([['utc', 'UTC']]);
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const city = zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
    zones.set(zone.toLowerCase(), zone);
    if (!zones.has(city.toLowerCase())) zones.set(city.toLowerCase(), zone);
  }
  return zones;
}
