import type { Redis } from 'ioredis';

/** Bytes that wait to be written, beyond which nothing more is taken: a slow Redis must not fill the memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Up to this a copy is cheaper than a write of several parts, in bytes. */
const MAX_COPIED_BYTES = 16_384;

/** Where something goes that nobody has received, and the text that it has before it there. */
export interface ReturnAddress {
  readonly channel: string;
  readonly mark: string;
}

/** Publishes, and gives back what nobody has received. As short as can be: it is sent each time, since it may be forgotten. */
const PUBLISH_OR_RETURN =
  "if redis.call('SPUBLISH',ARGV[1],ARGV[2])==0 then redis.call('SPUBLISH',ARGV[3],ARGV[4]..ARGV[2]) end";

const PUBLISH = `*3\r\n${bulk('SPUBLISH')}`;
const EVALUATE = `*7\r\n${bulk('EVAL')}${bulk(PUBLISH_OR_RETURN)}${bulk('0')}`;

/**
 * Publishes over a connection on which Redis was told not to answer (`CLIENT REPLY OFF`): an answer to each message would be
 * a wake-up and a read for this node, and a write for Redis, though hardly any is worth knowing. The client keeps the
 * connection, and is passed over for what is written: it would wait for answers.
 */
export class SilentPublisher {
  #isReady = false;

  constructor(private readonly client: Redis) {
    client.on('ready', () => void this.#silence());
    client.on('close', () => {
      this.#isReady = false;
    });
  }

  /** Asks for no answers, where Redis lets it: only `ON` tells, since `OFF` itself is not answered. */
  async #silence(): Promise<void> {
    const { stream } = this.client;
    try {
      await this.client.call('CLIENT', 'REPLY', 'ON');
    } catch {
      return; // by an access list: what is published is answered then, over another connection
    }
    if (this.client.stream !== stream) return;
    this.client.call('CLIENT', 'REPLY', 'OFF').catch(() => undefined);
    this.#isReady = true;
  }

  /** @returns false when it was not sent */
  publish(channel: string, payload: Buffer): boolean {
    return this.#write(PUBLISH + bulk(channel), payload, '');
  }

  /** What nobody receives goes to another channel. @returns false when it was not sent */
  publishOrReturn(channel: string, payload: Buffer, back: ReturnAddress): boolean {
    return this.#write(EVALUATE + bulk(channel), payload, bulk(back.channel) + bulk(back.mark));
  }

  /** One command: its payload between its other arguments, as the protocol of Redis has them. */
  #write(before: string, payload: Buffer, after: string): boolean {
    const { stream } = this.client;
    if (!this.#isReady || stream.writableLength > MAX_WAITING_BYTES) return false;
    const start = Buffer.from(`${before}$${payload.length}\r\n`);
    const end = Buffer.from(`\r\n${after}`);
    if (payload.length <= MAX_COPIED_BYTES) stream.write(Buffer.concat([start, payload, end]));
    else {
      stream.cork();
      for (const part of [start, payload, end]) stream.write(part);
      stream.uncork();
    }
    return true;
  }
}

function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}
