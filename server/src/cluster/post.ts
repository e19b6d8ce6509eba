import type { Loss } from './backplane.js';
import type { Keys } from './keys.js';
import { WrittenMessage, writeBatch } from './message-batch.js';
import type { NodeMessage } from './node-messages.js';
import type { RedisConnections } from './redis-connections.js';

/** Bytes on their way to Redis, beyond which nothing more is sent: a slow Redis must not fill the memory. */
const MAX_BYTES_ON_THEIR_WAY = 64 * 1024 * 1024;

interface Letter {
  readonly message: WrittenMessage;
  readonly onLost: ((loss: Loss) => void) | undefined;
}

/**
 * Sends messages to other nodes. Those of one turn of the event loop for one node travel together, which is most of
 * what makes them cheap. Where the sender wants to know, Redis tells at once when nobody listens at the other end; those
 * messages keep their order among themselves, and so do the others.
 */
export class Post {
  readonly #letters = new Map<string, Letter[]>();
  #bytesOnTheirWay = 0;
  #flush: NodeJS.Immediate | undefined;

  /** @param sender the id of this node, which may change */
  constructor(
    private readonly redis: Pick<RedisConnections, 'commands' | 'isReady' | 'publishSilently'>,
    private readonly keys: Keys,
    private readonly sender: () => string,
  ) {}

  send(nodeId: string, message: NodeMessage, onLost?: (loss: Loss) => void): void {
    const letter = { message: new WrittenMessage(message), onLost };
    const letters = this.#letters.get(nodeId);
    if (letters === undefined) this.#letters.set(nodeId, [letter]);
    else letters.push(letter);
    this.#flush ??= setImmediate(() => this.flush());
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    const all = [...this.#letters];
    this.#letters.clear();
    for (const [nodeId, letters] of all) this.#post(nodeId, letters);
  }

  #post(nodeId: string, letters: readonly Letter[]): void {
    if (!this.redis.isReady) return lose(letters, 'unavailable');
    const silent = letters.filter(({ onLost }) => onLost === undefined);
    if (silent.length > 0) this.redis.publishSilently(this.keys.mailbox(nodeId), this.#batchOf(silent));
    if (silent.length === letters.length) return;
    this.#postRegistered(
      nodeId,
      letters.filter(({ onLost }) => onLost !== undefined),
    );
  }

  /** Those who sent these want to know when they have not arrived. */
  #postRegistered(nodeId: string, letters: readonly Letter[]): void {
    if (this.#bytesOnTheirWay > MAX_BYTES_ON_THEIR_WAY) return lose(letters, 'unavailable');
    const batch = this.#batchOf(letters);
    this.#bytesOnTheirWay += batch.length;
    this.redis.commands.spublish(this.keys.mailbox(nodeId), batch).then(
      (receivers) => {
        this.#bytesOnTheirWay -= batch.length;
        if (receivers === 0) lose(letters, 'node-gone');
      },
      () => {
        this.#bytesOnTheirWay -= batch.length;
        lose(letters, 'unavailable');
      },
    );
  }

  #batchOf(letters: readonly Letter[]): Buffer {
    const messages = letters.map(({ message }) => message);
    return writeBatch(this.sender(), messages);
  }
}

function lose(letters: readonly Letter[], loss: Loss): void {
  for (const { onLost } of letters) onLost?.(loss);
}
