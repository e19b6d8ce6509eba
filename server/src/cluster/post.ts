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
 * what makes them cheap. Redis tells at once when nobody listens at the other end.
 */
export class Post {
  readonly #letters = new Map<string, Letter[]>();
  #bytesOnTheirWay = 0;
  #flush: NodeJS.Immediate | undefined;

  /** @param sender the id of this node, which may change */
  constructor(
    private readonly redis: Pick<RedisConnections, 'commands' | 'isReady'>,
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
    if (!this.redis.isReady || this.#bytesOnTheirWay > MAX_BYTES_ON_THEIR_WAY)
      return lose(letters, 'unavailable');
    const batch = writeBatch(
      this.sender(),
      letters.map(({ message }) => message),
    );
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
}

function lose(letters: readonly Letter[], loss: Loss): void {
  for (const { onLost } of letters) onLost?.(loss);
}
