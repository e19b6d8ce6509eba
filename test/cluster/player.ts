import { setTimeout as delay } from 'node:timers/promises';
import { RemoteError, type Hub } from '@remotes-hub/client';
import { soon } from '../support/eventually.js';

/** Time between two calls of a session, in milliseconds. */
const PAUSE_MS = 20;

/** A connection that was lost. Times as `performance.now()` tells them. */
export interface Loss {
  readonly at: number;
  readonly closeCode: number | undefined;
  /** When there was another one. */
  backAt?: number;
}

/** A session that serves a remote, and calls those of its fellows in turn. */
export class Player implements AsyncDisposable {
  readonly losses: Loss[] = [];
  readonly failures: RemoteError[] = [];
  /** Calls that were answered by the one who was called. */
  results = 0;
  /** Results of somebody else. */
  mixedUp = 0;
  readonly #stop = new AbortController();
  #calls: Promise<void> = Promise.resolve();

  private constructor(
    readonly hub: Hub,
    private readonly index: number,
  ) {
    hub.on('state', ({ state, close }) => {
      const last = this.losses.at(-1);
      const isLost = last !== undefined && last.backAt === undefined;
      if (state === 'open' && isLost) last.backAt = performance.now();
      else if (state === 'reconnecting' && !isLost)
        this.losses.push({ at: performance.now(), closeCode: close?.code });
    });
  }

  /** Serves the remote of this index. */
  static async start(hub: Hub, index: number): Promise<Player> {
    const player = new Player(hub, index);
    await hub.serve(`remote-${index}`, { who: { handler: () => index } });
    return player;
  }

  /** Calls the remotes of the others, from the next one on, until it is stopped. */
  play(players: number): void {
    this.#calls = this.#play(players);
  }

  /** Calls a remote once. @returns whether it answered */
  async call(index: number): Promise<boolean> {
    try {
      if ((await this.hub.call(`remote-${index}`, 'who')) === index) this.results += 1;
      else this.mixedUp += 1;
      return true;
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      this.failures.push(error);
      return false;
    }
  }

  /** Calls what it serves itself, which its node alone can do. @returns whether it answered */
  async callOwn(): Promise<boolean> {
    return this.call(this.index);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.hub.close();
  }

  async #play(players: number): Promise<void> {
    for (let next = this.index + 1; !this.#stop.signal.aborted; next += 1) {
      await this.call(next % players);
      await delay(PAUSE_MS);
    }
  }
}

/** Several of them. */
export class Players implements AsyncDisposable {
  private constructor(readonly all: readonly Player[]) {}

  static async start(count: number, connect: () => Promise<Hub>): Promise<Players> {
    const starts = Array.from({ length: count }, async (_, index) => Player.start(await connect(), index));
    return new Players(await Promise.all(starts));
  }

  /** Has each call the others, over and over. */
  play(): void {
    for (const player of this.all) player.play(this.all.length);
  }

  /** Waits until every remote is listed, and has each session call one: all must answer. */
  async untilAllServed(): Promise<void> {
    const { all } = this;
    const listed = async (): Promise<void> => {
      while ((await all[0]?.hub.list())?.length !== all.length);
    };
    await soon(listed(), 'every remote is listed');
    const answers = await Promise.all(
      all.map(async (player, index) => player.call((index + 1) % all.length)),
    );
    if (answers.includes(false)) throw new Error(`not everybody is answered: ${answers.join()}`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map(async (player) => player.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map(async (player) => player[Symbol.asyncDispose]()));
  }
}
