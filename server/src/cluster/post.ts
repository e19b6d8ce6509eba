import type { Loss } from './backplane.js';
import type { Keys } from './keys.js';
import { WrittenMessage, writeBatch } from './message-batch.js';
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
  readonly message: WrittenMessage;
  readonly onLost: ((loss: Loss) => void) | undefined;
}

/** What is on its way to one node. */
interface Outgoing {
  letters: Letter[];
  waitingBytes: number;
  unreadBytes: number;
}

/**
 * Sends messages to other nodes. Those of one turn of the event loop for one node travel together, which is most of
 * what makes them cheap. Where the sender wants to know, Redis tells at once when nobody listens at the other end; those
 * messages keep their order among themselves, and so do the others.
 */
export class Post {
  readonly #nodes = new Map<string, Outgoing>();
  /** Nodes with letters to be sent at the end of the turn. */
  readonly #due = new Set<string>();
  /** Bytes of each node that were read here, and it was not told so yet. */
  readonly #read = new Map<string, number>();
  #flush: NodeJS.Immediate | undefined;

  /** @param sender the id of this node, which may change */
  constructor(
    private readonly redis: Pick<RedisConnections, 'commands' | 'isReady' | 'publishSilently'>,
    private readonly keys: Keys,
    private readonly sender: () => string,
  ) {}

  send(nodeId: string, message: NodeMessage, onLost?: (loss: Loss) => void): void {
    const letter = { message: new WrittenMessage(message), onLost };
    const outgoing = this.#outgoing(nodeId);
    if (outgoing.waitingBytes > MAX_WAITING_BYTES) return lose([letter], 'unavailable');
    outgoing.letters.push(letter);
    outgoing.waitingBytes += letter.message.bytes;
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

  /** What a node, or every one, was sent and has not read is lost. */
  forgetUnread(nodeId?: string): void {
    for (const id of nodeId === undefined ? [...this.#nodes.keys()] : [nodeId]) {
      const outgoing = this.#nodes.get(id);
      this.#nodes.delete(id);
      this.#read.delete(id);
      if (outgoing !== undefined) lose(outgoing.letters, 'unavailable');
    }
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
    if (!this.redis.isReady) return this.forgetUnread(nodeId);
    while (outgoing.letters.length > 0 && outgoing.unreadBytes < MAX_UNREAD_BYTES) {
      const letters = takeBatch(outgoing.letters);
      for (const { message } of letters) outgoing.waitingBytes -= message.bytes;
      outgoing.unreadBytes += this.#publish(nodeId, letters);
    }
  }

  /** @returns how many bytes that were */
  #publish(nodeId: string, letters: readonly Letter[]): number {
    const silent = letters.filter(({ onLost }) => onLost === undefined);
    const registered = silent.length === 0 ? letters : letters.filter(({ onLost }) => onLost !== undefined);
    let bytes = 0;
    if (silent.length > 0) {
      const batch = this.#batchOf(silent);
      bytes += batch.length;
      this.redis.publishSilently(this.keys.mailbox(nodeId), batch);
    }
    if (registered.length > 0) bytes += this.#publishRegistered(nodeId, registered);
    return bytes;
  }

  /** Those who sent these want to know when they have not arrived. */
  #publishRegistered(nodeId: string, letters: readonly Letter[]): number {
    const batch = this.#batchOf(letters);
    this.redis.commands.spublish(this.keys.mailbox(nodeId), batch).then(
      (receivers) => {
        if (receivers === 0) this.#notReceived(nodeId, letters);
      },
      () => {
        this.#tookBack(nodeId, batch.length);
        lose(letters, 'unavailable');
      },
    );
    return batch.length;
  }

  /** Nobody listens there, and so nobody will say what was read, nor get what waits. */
  #notReceived(nodeId: string, letters: readonly Letter[]): void {
    const waiting = this.#nodes.get(nodeId)?.letters ?? [];
    this.#nodes.delete(nodeId);
    lose([...letters, ...waiting], 'node-gone');
  }

  #tookBack(nodeId: string, bytes: number): void {
    const outgoing = this.#nodes.get(nodeId);
    if (outgoing === undefined) return;
    outgoing.unreadBytes = Math.max(0, outgoing.unreadBytes - bytes);
    this.#sendSoon(nodeId);
  }

  #batchOf(letters: readonly Letter[]): Buffer {
    const messages = letters.map(({ message }) => message);
    return writeBatch(this.sender(), messages);
  }
}

/** Takes the first letters away, as many as may travel together. */
function takeBatch(letters: Letter[]): Letter[] {
  let bytes = 0;
  const end = letters.findIndex(({ message }, index) => {
    bytes += message.bytes;
    return index > 0 && bytes > MAX_BATCH_BYTES;
  });
  return letters.splice(0, end === -1 ? letters.length : end);
}

function lose(letters: readonly Letter[], loss: Loss): void {
  for (const { onLost } of letters) onLost?.(loss);
}
