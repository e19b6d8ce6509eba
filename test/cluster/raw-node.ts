import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';

/** The id of the node that a test plays. */
export const RAW_ID = 'b0000000-0000-4000-8000-000000000001';

/** A node of version 1, played by hand: everything it says is written in the test. */
export class RawNode implements AsyncDisposable {
  /** What was published to it, as Latin-1, by channel. */
  readonly received: { channel: string; text: string }[] = [];
  readonly redis: Redis;
  readonly #subscriber: Redis;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    url: string,
    readonly prefix: string,
  ) {
    this.redis = new Redis(url);
    this.#subscriber = new Redis(url);
    this.#subscriber.on('smessageBuffer', (channel: Buffer, payload: Buffer) => {
      this.received.push({ channel: channel.toString(), text: payload.toString('latin1') });
    });
  }

  /** Joins as version 1 does: mailbox, lease, set of nodes, heartbeats. */
  async join(): Promise<void> {
    await this.listen(`node:{${RAW_ID}}:mailbox`);
    await this.redis.set(`${this.prefix}:node:{${RAW_ID}}:lease`, '0', 'PX', 60_000);
    await this.redis.sadd(`${this.prefix}:nodes`, RAW_ID);
    await this.beat(0);
    this.#heartbeat = setInterval(() => void this.beat(0), 200);
  }

  /** Subscribes to a channel, named without the prefix. */
  async listen(channel: string): Promise<void> {
    await this.#subscriber.ssubscribe(`${this.prefix}:${channel}`);
  }

  async beat(generation: number): Promise<void> {
    await this.redis.spublish(`${this.prefix}:heartbeats`, `${RAW_ID} ${generation}`);
  }

  /** Publishes bytes, given as Latin-1, to a channel, named without the prefix. */
  async publish(channel: string, bytes: string): Promise<void> {
    const payload = Buffer.from(bytes, 'latin1');
    const receivers = Number(await this.redis.spublish(`${this.prefix}:${channel}`, payload));
    if (receivers !== 1) throw new Error(`${receivers} listen to ${channel}`);
  }

  /** Takes the next payload of a channel, named without the prefix, that holds this text. */
  async next(channel: string, part = ''): Promise<string> {
    const fits = ({ channel: from, text }: { channel: string; text: string }): boolean =>
      from === `${this.prefix}:${channel}` && text.includes(part);
    await eventually(() => this.received.some(fits), `${part} on ${channel}`);
    const [taken] = this.received.splice(this.received.findIndex(fits), 1);
    return taken?.text ?? '';
  }

  /** The next batch in its mailbox that holds this text. */
  async mail(part?: string): Promise<string> {
    return this.next(`node:{${RAW_ID}}:mailbox`, part);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#heartbeat);
    this.redis.disconnect();
    this.#subscriber.disconnect();
  }
}
