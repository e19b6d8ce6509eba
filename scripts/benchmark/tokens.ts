import { createHub, type Hub } from '@remotes-hub/server';
import { HUB_SECRET } from './secret.js';

/** A token stays valid for the whole run. */
const TTL_MS = 3_600_000;

/** Issues tokens of the measured hub without its help: it costs a hub CPU time and memory. */
export class TokenIssuer implements AsyncDisposable {
  readonly #hub: Hub = createHub({ config: { auth: { secret: HUB_SECRET }, log: { level: 'silent' } } });

  /** So many different tokens of the user all calls belong to. */
  async ofOneUser(count: number): Promise<string[]> {
    return this.#issue(Array.from({ length: count }, () => 'bench'));
  }

  /** A token of its own for each session, spread over so many users, none of whom calls. */
  async ofManyUsers(count: number, users: number): Promise<string[]> {
    return this.#issue(Array.from({ length: count }, (_, index) => `idle-${index % users}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hub.close();
  }

  async #issue(userIds: readonly string[]): Promise<string[]> {
    const issued = userIds.map(async (userId) => (await this.#hub.issueToken(userId, TTL_MS)).token);
    return Promise.all(issued);
  }
}
