/**
 * Names of everything that is kept in Redis. A user's keys and channel share a hash tag, and so a slot of a Redis
 * Cluster; names from outside are encoded, so that no two of them meet.
 */
export class Keys {
  constructor(private readonly prefix: string) {}

  /** Hash: remote name to who holds it. */
  remotes(userId: string): string {
    return `${this.#user(userId)}:remotes`;
  }

  /** Hash: connection id to its function specs. */
  tools(userId: string): string {
    return `${this.#user(userId)}:tools`;
  }

  /** Hash: instance to its session. */
  instances(userId: string): string {
    return `${this.#user(userId)}:instances`;
  }

  /** Set: the nodes on which calls wait for an instance. */
  waiting(userId: string, instanceKey: string): string {
    return `${this.#user(userId)}:waiting:${instanceKey}`;
  }

  /** The node of a run. */
  run(userId: string, runId: string): string {
    return `${this.#user(userId)}:run:${encoded(runId)}`;
  }

  /** Channel of a user's events. */
  events(userId: string): string {
    return `${this.#user(userId)}:events`;
  }

  /** The user of a channel that {@link events} made. */
  userOf(channel: string): string | undefined {
    const [, user] = /:user:\{([\w-]+)\}:events$/u.exec(channel) ?? [];
    return user === undefined ? undefined : decoded(user);
  }

  /** There as long as a node lives. */
  lease(nodeId: string): string {
    return `${this.prefix}:node:{${nodeId}}:lease`;
  }

  /** Set: the users of whom a node may hold something. */
  usersOf(nodeId: string): string {
    return `${this.prefix}:node:{${nodeId}}:users`;
  }

  /** Channel of what a node is sent. */
  mailbox(nodeId: string): string {
    return `${this.prefix}:node:{${nodeId}}:mailbox`;
  }

  /** Set: nodes that have joined and were not cleared away. */
  get nodes(): string {
    return `${this.prefix}:nodes`;
  }

  /** Channel on which every node says that it is there. */
  get heartbeats(): string {
    return `${this.prefix}:heartbeats`;
  }

  /** Lost when Redis has lost its data. */
  get epoch(): string {
    return `${this.prefix}:epoch`;
  }

  #user(userId: string): string {
    return `${this.prefix}:user:{${encoded(userId)}}`;
  }
}

/** One text for one name, also where the name is no valid Unicode. */
function encoded(name: string): string {
  return Buffer.from(JSON.stringify(name)).toString('base64url');
}

function decoded(text: string): string | undefined {
  try {
    const name: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
