import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { parseNetwork } from '../config/network.js';

/**
 * Whose request it is, where load balancers stand in front: a proxy that is trusted says so in `X-Forwarded-For`. Each adds
 * the address that it saw at the end, so the list is read from there; what comes before the first stranger anybody may have
 * written.
 */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #trustsSome: boolean;

  /** @param networks as {@link parseNetwork} reads them */
  constructor(networks: readonly string[]) {
    this.#trustsSome = networks.length > 0;
    for (const network of networks) {
      const parsed = parseNetwork(network);
      if (parsed === undefined) throw new TypeError(`not an address or a network: ${network}`);
      this.#trusted.addSubnet(parsed.address, parsed.prefix, isIP(parsed.address) === 6 ? 'ipv6' : 'ipv4');
    }
  }

  /** The client's address, without a port. */
  of(request: IncomingMessage): string {
    let address = request.socket.remoteAddress ?? 'unknown';
    if (!this.#trustsSome || !this.#trusts(address)) return address; // asking the list is dear
    const header = request.headers['x-forwarded-for'];
    const forwarded = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',');
    for (const entry of forwarded.toReversed()) {
      const claimed = entry.trim();
      if (isIP(claimed) === 0) return address;
      address = claimed;
      if (!this.#trusts(address)) return address;
    }
    return address;
  }

  #trusts(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  }
}
