import { isIPv4, isIPv6 } from 'node:net';

const mappedPattern = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The eight groups of an IPv6 address in its canonical spelling. */
function groupsOf(canonical: string): readonly string[] {
  const [head = '', tail] = canonical.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}

/**
 * What limits per address count by. An IPv6 host has a whole /64 of addresses to choose from, so it counts as
 * that; an IPv4 address written as IPv6 counts as what it is.
 */
export function addressKey(address: string): string {
  if (isIPv4(address)) return address;
  const [withoutZone = ''] = address.split('%');
  const mapped = mappedPattern.exec(withoutZone)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(withoutZone)) return address;
  const canonical = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
  return `${groupsOf(canonical).slice(0, 4).join(':')}::/64`;
}
