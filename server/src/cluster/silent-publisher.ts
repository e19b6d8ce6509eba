import type { Redis } from 'ioredis';

/** Bytes that wait to be written, beyond which nothing more is taken: a slow Redis must not fill the memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * Publishes over a connection on which Redis was told not to answer (`CLIENT REPLY OFF`): for what nobody asks whether it
 * arrived. An answer to each would be a wake-up and a read for this node, and a write for Redis, for nothing. The client
 * keeps the connection, and is passed over for what is written: it would wait for answers.
 */
export class SilentPublisher {
  #isReady = false;

  constructor(private readonly client: Redis) {
    client.on('ready', () => {
      client.call('CLIENT', 'REPLY', 'OFF').catch(() => undefined); // which is not answered either
      this.#isReady = true;
    });
    client.on('close', () => {
      this.#isReady = false;
    });
  }

  /** @returns false when it was not sent */
  publish(channel: string, payload: Buffer): boolean {
    const { stream } = this.client;
    if (!this.#isReady || stream.writableLength > MAX_WAITING_BYTES) return false;
    const start = `*3\r\n$8\r\nSPUBLISH\r\n$${Buffer.byteLength(channel)}\r\n${channel}\r\n$${payload.length}\r\n`;
    stream.cork();
    stream.write(start);
    stream.write(payload);
    stream.write('\r\n');
    stream.uncork();
    return true;
  }
}
