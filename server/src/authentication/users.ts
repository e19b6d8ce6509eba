import { createHmac, randomBytes } from 'node:crypto';
import type { Logger } from '../observability/logger.js';
import {
  decoyHash,
  defaultPasswordCost,
  isPasswordHash,
  passwordCostOf,
  type PasswordCost,
} from '../passwords/passwords.js';
import { UsersFileError, readUsersFile, versionOf } from './users-file.js';

export { UsersFileError, addUser, usersFileSchema, type AddUserOptions } from './users-file.js';

/** A user who logs in with a password. */
export interface PasswordUser {
  readonly username: string;
  readonly passwordHash: string;
}

/** Where users come from. */
export interface UsersOptions {
  /** Users of the configuration: `auth.users`. */
  readonly users: readonly PasswordUser[];
  /** `auth.usersFile`. */
  readonly usersFile?: string | undefined;
  readonly logger: Pick<Logger, 'error' | 'info'>;
}

/** What to check a password against. */
export interface PasswordRecord {
  readonly passwordHash: string;
  /** False for a name that nobody has: the hash is then a decoy, and no password may be accepted. */
  readonly isKnown: boolean;
}

function configuredUsers(users: readonly PasswordUser[]): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const [at, { username, passwordHash }] of users.entries()) {
    if (!isPasswordHash(passwordHash)) {
      throw new RangeError(
        `auth.users.${at}.passwordHash: expected a hash as \`remotes-hub user add\` makes it`,
      );
    }
    if (hashes.has(username)) throw new RangeError(`auth.users.${at}.username: '${username}' is there twice`);
    hashes.set(username, passwordHash);
  }
  return hashes;
}

/**
 * Users with passwords, of the configuration and of the file; a name that is in both has the password of the
 * configuration. Names are compared as they are written. The file is looked at before every login and read
 * again when it was written; while it is missing or broken, its last good content counts.
 */
export class Users {
  readonly #configured: ReadonlyMap<string, string>;
  readonly #file: string | undefined;
  readonly #logger: UsersOptions['logger'];
  readonly #decoyKey = randomBytes(32);
  #hashes: ReadonlyMap<string, string>;
  #costs: readonly PasswordCost[] = [];
  #seen: string | undefined; // version of the file
  #fault: string | undefined; // what the log says is wrong with it
  #refreshing: Promise<void> | undefined;

  /** @throws {RangeError} when a configured hash is none, or a name is there twice */
  constructor(options: UsersOptions) {
    this.#configured = configuredUsers(options.users);
    this.#file = options.usersFile;
    this.#logger = options.logger;
    this.#hashes = this.#configured;
    this.#replaceHashes(this.#configured);
  }

  /**
   * What to check a password of this user against. A name that nobody has gets a decoy of the same cost as a
   * real one, so that the time of a refusal tells nothing.
   */
  async find(username: string): Promise<PasswordRecord> {
    await this.refresh();
    const passwordHash = this.#hashes.get(username);
    if (passwordHash !== undefined) return { passwordHash, isKnown: true };
    return { passwordHash: decoyHash(this.#decoyCost(username)), isKnown: false };
  }

  /** Reads the file again if it was written since. A fault is logged once and never thrown. */
  async refresh(): Promise<void> {
    if (this.#file === undefined) return;
    await this.#refreshing; // it may have looked before the last change; whoever waited shares the next look
    this.#refreshing ??= this.#read(this.#file).finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  async #read(file: string): Promise<void> {
    try {
      const version = await versionOf(file); // first: what is written while reading is read again next time
      if (version === this.#seen) return;
      this.#seen = version;
      const { users } = await readUsersFile(file);
      const fromFile = users.map(({ username, passwordHash }) => [username, passwordHash] as const);
      this.#replaceHashes(new Map([...fromFile, ...this.#configured]));
      this.#fault = undefined;
      this.#logger.info({ usersFile: file, users: users.length }, 'file of users read');
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error;
      this.#report(file, error);
    }
  }

  /** Broken content stays broken until the file is written; any other fault may pass, so it is tried again. */
  #report(file: string, { code, message }: UsersFileError): void {
    const isNew = code === 'broken' || message !== this.#fault;
    this.#fault = message;
    if (code !== 'broken') this.#seen = undefined;
    if (!isNew) return;
    this.#logger.error(
      { usersFile: file, reason: message },
      'file of users cannot be used, its last good content counts',
    );
  }

  #replaceHashes(hashes: ReadonlyMap<string, string>): void {
    this.#hashes = hashes;
    this.#costs = [...hashes.values()].map(passwordCostOf);
  }

  /** The cost of a user picked by the name: always the same one, and costs are as frequent as among users. */
  #decoyCost(username: string): PasswordCost {
    const number = createHmac('sha256', this.#decoyKey).update(username).digest().readUInt32BE();
    return this.#costs[number % this.#costs.length] ?? defaultPasswordCost;
  }
}
