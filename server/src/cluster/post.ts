import type { Loss } from './backplane.js';
import type { Keys } from './keys.js';
import { EncodedMessage, readBatch, readReturned, returnMark, writeBatch } from './message-batch.js';
import { readHead, type NodeMessage } from './node-messages.js';
import type { RedisConnections } from './redis-connections.js';

/** Messages of one turn that travel together, in bytes; a longer one travels alone. */
const MAX_BATCH_BYTES = 1024 * 1024;
/**
 * Bytes for one node that it has not read yet, beyond which more waits here: Redis closes the channel of a node for which
 * too many of them wait there (`client-output-buffer-limit pubsub`, 32 MiB unless it is configured).
 */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** Bytes after which a node says that it has read them. */
const READ_NOTICE_BYTES = 1024 * 1024;
/** Bytes that wait here for one node, beyond which nothing more is taken: it must not fill the memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface Letter {
  readonly written: EncodedMessage;
  /** Set when it is told that it did not get there. */
  readonly told: NodeMessage | undefined;
}

/** What the post works with. */
export interface PostOptions {
  readonly redis: Pick<RedisConnections, 'commands' | 'isReady' | 'publishSilently' | 'publishOrReturn'>;
  readonly keys: Keys;
  /** The id of this node, which may change. */
  readonly sender: () => string;
  /** Told of each message that did not get there, if it was to be told. */
  readonly lost: (message: NodeMessage, nodeId: string, loss: Loss) => void;
}

/** What is on its way to one node. */
interface Outgoing {
  letters: Letter[];
  waitingBytes: number;
  unreadBytes: number;
}

/**
 * Sends messages to other nodes. Those of one turn of the event loop for one node travel together, which is most of
 * what makes them cheap, and arrive in their order. Where somebody wants to know whether a message has arrived, Redis gives back
 * at once what nobody listens to at the other end.
 */
export class Post {
  readonly #nodes = new Map<string, Outgoing>();
  /** Nodes with letters to be sent at the end of the turn. */
  readonly #due = new Set<string>();
  /** Bytes of each node that were read here, and it was not told so yet. */
  readonly #read = new Map<string, number>();
  #flush: NodeJS.Immediate | undefined;

  constructor(private readonly options: PostOptions) {}

  /** @param isTold whether it is told when it does not get there */
  send(nodeId: string, message: NodeMessage, isTold = false): void {
    const letter = { written: new EncodedMessage(message), told: isTold ? message : undefined };
    const outgoing = this.#outgoing(nodeId);
    if (outgoing.waitingBytes > MAX_WAITING_BYTES) return this.#lose(nodeId, [letter], 'unavailable');
    outgoing.letters.push(letter);
    outgoing.waitingBytes += letter.written.bytes;
    this.#sendSoon(nodeId);
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    for (const nodeId of this.#due) this.#sendTo(nodeId);
    this.#due.clear();
  }

  /** Something of a node was read. */
  received(nodeId: string, bytes: number): void {
    const read = (this.#read.get(nodeId) ?? 0) + bytes;
    if (read >= READ_NOTICE_BYTES) this.send(nodeId, { head: ['read', read] });
    this.#read.set(nodeId, read >= READ_NOTICE_BYTES ? 0 : read);
  }

  /** Takes a message about what was sent, if it is one: more of it can be. */
  receive({ head }: NodeMessage, from: string): boolean {
    if (head[0] !== 'read') return false;
    const read = readHead.safeParse(head);
    if (read.success) this.#tookBack(from, read.data[1]);
    return true;
  }

  /** A node is gone, or has lost what it was sent: it will not say that it has read it, and what waits has not been sent. */
  forget(nodeId: string, loss: Loss = 'node-gone'): void {
    const outgoing = this.#nodes.get(nodeId);
    this.#nodes.delete(nodeId);
    this.#read.delete(nodeId);
    if (outgoing !== undefined) this.#lose(nodeId, outgoing.letters, loss);
  }

  /** No node can be reached. */
  cutOff(): void {
    for (const nodeId of [...this.#nodes.keys()]) this.forget(nodeId, 'unavailable');
  }

  /** Takes what has come back of this node's own messages, if it is that: nobody listens there. */
  tookReturned(payload: Buffer): boolean {
    const returned = readReturned(payload);
    const batch = returned && readBatch(returned.batch);
    if (returned === undefined || batch === undefined) return false;
    // under another id it was cut off, and all has been told already
    if (batch.sender === this.options.sender()) this.#notReceived(returned.nodeId, batch.messages);
    return true;
  }

  #outgoing(nodeId: string): Outgoing {
    const known = this.#nodes.get(nodeId);
    if (known !== undefined) return known;
    const outgoing = { letters: [], waitingBytes: 0, unreadBytes: 0 };
    this.#nodes.set(nodeId, outgoing);
    return outgoing;
  }

  #sendSoon(nodeId: string): void {
    this.#due.add(nodeId);
    this.#flush ??= setImmediate(() => this.flush());
  }

  #sendTo(nodeId: string): void {
    const outgoing = this.#nodes.get(nodeId);
    if (outgoing === undefined) return;
    if (!this.options.redis.isReady) return this.forget(nodeId, 'unavailable');
    while (outgoing.letters.length > 0 && outgoing.unreadBytes < MAX_UNREAD_BYTES) {
      const letters = takeBatch(outgoing.letters);
      for (const { written } of letters) outgoing.waitingBytes -= written.bytes;
      outgoing.unreadBytes += this.#publish(nodeId, letters);
    }
  }

  /** @returns how many bytes that were */
  #publish(nodeId: string, letters: readonly Letter[]): number {
    const { redis, keys, sender } = this.options;
    const batch = writeBatch(
      sender(),
      letters.map(({ written }) => written),
    );
    if (letters.some(({ told }) => told !== undefined)) this.#publishTold(nodeId, batch, letters);
    else redis.publishSilently(keys.mailbox(nodeId), batch);
    return batch.length;
  }

  #publishTold(nodeId: string, batch: Buffer, letters: readonly Letter[]): void {
    const { redis, keys, sender } = this.options;
    const back = { channel: keys.mailbox(sender()), mark: returnMark(nodeId) };
    if (redis.publishOrReturn(keys.mailbox(nodeId), batch, back)) return;
    this.#publishAnswered(nodeId, batch, letters);
  }

  /** Where nothing can be given back, its answer tells whether anybody listens. */
  #publishAnswered(nodeId: string, batch: Buffer, letters: readonly Letter[]): void {
    const { redis, keys } = this.options;
    redis.commands.spublish(keys.mailbox(nodeId), batch).then(
      (receivers) => {
        if (receivers === 0) this.#notReceived(nodeId, toldOf(letters));
      },
      () => {
        this.#tookBack(nodeId, batch.length);
        this.#lose(nodeId, letters, 'unavailable');
      },
    );
  }

  /** Nobody listens there, and so nobody will say what was read, nor get what waits. */
  #notReceived(nodeId: string, messages: readonly NodeMessage[]): void {
    const waiting = this.#nodes.get(nodeId)?.letters ?? [];
    this.#nodes.delete(nodeId);
    for (const message of [...messages, ...toldOf(waiting)]) this.options.lost(message, nodeId, 'node-gone');
  }

  #lose(nodeId: string, letters: readonly Letter[], loss: Loss): void {
    for (const message of toldOf(letters)) this.options.lost(message, nodeId, loss);
  }

  #tookBack(nodeId: string, bytes: number): void {
    const outgoing = this.#nodes.get(nodeId);
    if (outgoing === undefined) return;
    outgoing.unreadBytes = Math.max(0, outgoing.unreadBytes - bytes);
    this.#sendSoon(nodeId);
  }
}

/** Takes the first letters away, as many as may travel together. */
function takeBatch(letters: Letter[]): Letter[] {
  let bytes = 0;
  const end = letters.findIndex(({ written }, index) => {
    bytes += written.bytes;
    return index > 0 && bytes > MAX_BATCH_BYTES;
  });
  return letters.splice(0, end === -1 ? letters.length : end);
}

/** The messages among these that are told when they do not get there. */
function toldOf(letters: readonly Letter[]): NodeMessage[] {
  return letters.flatMap(({ told }) => (told === undefined ? [] : [told]));
}
