import { setTimeout as delay } from 'node:timers/promises';
import { HubError, type ServedRemote } from '@remotes-hub/client';
import type { Problems } from './problems.js';
import type { PlayedSession } from './sessions.js';

const PREFIX = 'contested-';
const STEP_MS = 100;
const PATIENCE_MS = 20_000;

/** Why a name may be refused. */
const refusals: ReadonlySet<string> = new Set([
  'remote-already-connected',
  'backplane-unavailable',
  'connection-lost',
]);

/** Whether a remote of this name comes and goes with a fault. */
export function isContested(remotename: string): boolean {
  return remotename.startsWith(PREFIX);
}

/**
 * A name that a session serves when a fault comes, and that another session of its user, at another node, tries to
 * take meanwhile. Whoever has it in the end has it alone, and the other one knows.
 */
export class Contest {
  readonly #attempts: Promise<void>;
  #won: ServedRemote | undefined;
  #wonAt: number | undefined;
  #isOver = false;

  private constructor(
    private readonly remotename: string,
    private readonly holder: PlayedSession,
    private readonly rival: PlayedSession,
    private readonly held: ServedRemote,
    private readonly problems: Problems,
  ) {
    this.#attempts = this.#attempt();
  }

  /** @param number of the fault @param node that it hits */
  static async begin(
    number: number,
    node: number,
    sessions: readonly PlayedSession[],
    problems: Problems,
  ): Promise<Contest> {
    const holder = sessions.find(({ place }) => place.node === node);
    const rival = sessions.find(
      ({ place }) => place.user === holder?.place.user && place.node !== holder.place.node,
    );
    if (holder === undefined || rival === undefined) throw new Error('a user has a session at each node');
    const remotename = `${PREFIX}${number}`;
    return new Contest(remotename, holder, rival, await holder.serve(remotename), problems);
  }

  /**
   * Waits until one of them alone has the name, judges, and gives the name back.
   * @returns whether the rival has got it
   */
  async end(sessions: readonly PlayedSession[]): Promise<boolean> {
    const isDecided = await this.#within(async () => this.held.isConnected !== this.#isTaken);
    this.#isOver = true;
    await this.#attempts;
    const { isConnected } = this.held;
    if (isDecided) await this.#judge(sessions, isConnected ? this.holder : this.rival);
    else {
      const kind = isConnected
        ? 'two sessions serve one name'
        : 'a name is served by nobody, and nobody gets it';
      this.problems.add(kind, this.#story());
    }
    const isTaken = this.#isTaken;
    await Promise.all([this.#giveBack(this.held), this.#giveBack(this.#won)]);
    return isTaken;
  }

  get #isTaken(): boolean {
    return this.#won?.isConnected === true;
  }

  async #giveBack(served: ServedRemote | undefined): Promise<void> {
    try {
      await served?.disconnect();
    } catch (error) {
      this.problems.add('a name could not be given back', `${String(error)}, ${this.#story()}`);
    }
  }

  async #attempt(): Promise<void> {
    while (!this.#isOver && this.#won === undefined) {
      try {
        this.#won = await this.rival.serve(this.remotename);
        this.#wonAt = performance.now();
      } catch (error) {
        const code = error instanceof HubError ? error.code : String(error);
        if (!refusals.has(code)) this.problems.add(`a taken name was refused with ${code}`, this.remotename);
      }
      await delay(STEP_MS);
    }
  }

  async #judge(sessions: readonly PlayedSession[], owner: PlayedSession): Promise<void> {
    const same = sessions.filter(({ place }) => place.user === owner.place.user);
    let answers: unknown[] = [];
    const isOwned = await this.#within(async () => {
      answers = await Promise.all(same.map(async ({ hub }) => ask(hub, this.remotename)));
      return answers.every((answer) => answer === owner.place.index);
    });
    if (!isOwned)
      this.problems.add('a name is not served by its owner from everywhere', this.#story({ answers }));
    const loser = owner === this.holder ? this.rival : this.holder;
    if (loser === this.rival && this.#won === undefined) return; // it has never had it
    if (!(await this.#within(async () => this.#wasTold(loser))))
      this.problems.add('a session was not told that its name was taken', this.#story());
  }

  #wasTold({ told }: PlayedSession): boolean {
    return told.some(({ remotename }) => remotename === this.remotename);
  }

  async #within(holds: () => Promise<boolean>): Promise<boolean> {
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      if (await holds()) return true;
      await delay(STEP_MS);
    }
    return false;
  }

  #story(more: object = {}): string {
    const of = ({ told, place }: PlayedSession, served: ServedRemote | undefined): object => ({
      session: place.index,
      isConnected: served?.isConnected,
      told: told.filter(({ remotename }) => remotename === this.remotename),
    });
    return JSON.stringify({
      remotename: this.remotename,
      holder: of(this.holder, this.held),
      rival: of(this.rival, this.#won),
      wonAt: this.#wonAt,
      ...more,
    });
  }
}

async function ask(hub: PlayedSession['hub'], remotename: string): Promise<unknown> {
  try {
    return await hub.call(remotename, 'who', {}, { timeoutMs: 1_000 });
  } catch {
    return undefined;
  }
}
