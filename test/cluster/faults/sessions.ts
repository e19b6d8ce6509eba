import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Hub, type JsonValue, type ServedRemote } from '@remotes-hub/client';
import { NODES, type FaultCluster } from './cluster.js';
import type { Ledger } from './ledger.js';
import type { Problems } from './problems.js';

export const USERS = 3;
const SESSIONS_PER_USER = 4;

/** Something that a session was told of a name. */
export interface Told {
  readonly event: 'remote-disconnected' | 'serve-failed';
  readonly remotename: string;
  readonly code?: string;
  /** When, as `performance.now()` tells it. */
  readonly at: number;
}

/** Where a session is, and what it serves. */
export interface Place {
  readonly index: number;
  readonly user: string;
  readonly node: number;
  /** Served all the time. */
  readonly remotename: string;
}

/** One session of the fault test: it serves a remote, calls those of its user's others, and keeps what it is told. */
export class PlayedSession implements AsyncDisposable {
  readonly told: Told[] = [];
  /** When it came back after its connection was lost, as `performance.now()` tells it. */
  readonly reconnectedAt: number[] = [];
  #served: ServedRemote | undefined;

  private constructor(
    readonly place: Place,
    readonly hub: Hub,
    private readonly ledger: Ledger,
    problems: Problems,
  ) {
    hub.on('state', ({ state }) => {
      if (state === 'open') this.reconnectedAt.push(performance.now());
    });
    hub.on('remote-disconnected', ({ remotename }) =>
      this.told.push({ event: 'remote-disconnected', remotename, at: performance.now() }),
    );
    hub.on('serve-failed', ({ remotename, code }) => {
      this.told.push({ event: 'serve-failed', remotename, code, at: performance.now() });
      if (remotename === place.remotename)
        problems.add('a remote that nobody else wants was not served again', `${remotename}, ${code}`);
    });
    hub.on('close', ({ code, reason }) => {
      if (code !== 1000) problems.add('a session ended for good', `${place.index}, ${code} ${reason}`);
    });
  }

  static async open(
    place: Place,
    cluster: FaultCluster,
    ledger: Ledger,
    problems: Problems,
  ): Promise<PlayedSession> {
    const node = cluster.node(place.node);
    const hub = await connect(node.socketUrl, {
      token: async () => node.token(place.user),
      reconnect: { delayMs: 200, maxDelayMs: 1_000 },
      connectTimeoutMs: 2_000,
    });
    const session = new PlayedSession(place, hub, ledger, problems);
    session.#served = await session.serve(place.remotename);
    return session;
  }

  /** Whether its steady remote is connected, as far as it knows. */
  get isServing(): boolean {
    return this.#served?.isConnected === true;
  }

  /** Serves a remote: `f` for the load, `who` for those who ask which session it is. */
  async serve(remotename: string): Promise<ServedRemote> {
    const { index } = this.place;
    const f = async ({ id }: { id?: JsonValue }): Promise<JsonValue> => {
      this.ledger.ran(id, index);
      await work();
      return { id: id ?? null, by: index };
    };
    return this.hub.serve(remotename, { f: { handler: f }, who: { handler: () => index } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub.close();
  }
}

/** The users' sessions, spread so that each user has one at every node. */
export function places(): Place[] {
  return Array.from({ length: USERS * SESSIONS_PER_USER }, (_, index) => {
    const user = index % USERS;
    const number = Math.floor(index / USERS);
    // names are those of a user, so the users share them
    return { index, user: `user-${user}`, node: (user + number) % NODES, remotename: `remote-${number}` };
  });
}

/** Most calls are quick; some take a while, so that each fault meets calls in flight. */
async function work(): Promise<void> {
  const chance = Math.random();
  if (chance < 0.02) await delay(400);
  else if (chance < 0.3) await delay(20);
}
