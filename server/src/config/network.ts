import { isIP } from 'node:net';

/** An address, or a network such as `10.0.0.0/8`; `undefined` when a text is neither. */
export function parseNetwork(
  text: string,
): { readonly address: string; readonly prefix: number } | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  if (version === 0 || rest.length > 0) return undefined;
  if (length === undefined) return { address, prefix: bits };
  return /^\d{1,3}$/u.test(length) && Number(length) <= bits
    ? { address, prefix: Number(length) }
    : undefined;
}
