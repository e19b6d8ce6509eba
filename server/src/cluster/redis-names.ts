import * as z from 'zod';
import { JsonText } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { ListedElsewhere, NameClaim, NameHolder, NameLimits } from './backplane.js';
import type { Keys } from './keys.js';
import type { RedisConnections } from './redis-connections.js';
import { answerOf } from './unavailable.js';

/** Function specs of other nodes' remotes that are kept, in characters of their text: they never change. */
const MAX_KEPT_SPECS = 32 * 1024 * 1024;

const timeoutsSchema = z.array(z.tuple([z.string(), z.number()]));

/** What became of a claim: it is granted when there is no holder. */
export interface ClaimOutcome {
  readonly holder?: NameHolder;
  /** Who had the name before. */
  readonly overruled?: NameHolder;
  /** Nobody had it. */
  readonly wasFree?: boolean;
}

/** Who holds which name, in Redis. */
export class RedisNames {
  /** By connection id, the one used longest ago first. */
  readonly #specs = new Map<string, JsonText>();
  #specsLength = 0;

  constructor(
    private readonly redis: Pick<RedisConnections, 'commands'>,
    private readonly keys: Keys,
  ) {}

  /**
   * Takes a name for a node.
   * @param isEarlierFirst a claim that has held it before wins against a later one
   */
  async claim(
    nodeId: string,
    claim: NameClaim,
    limits: NameLimits,
    {
      replaced,
      isEarlierFirst = false,
    }: { replaced?: NameHolder | undefined; isEarlierFirst?: boolean } = {},
  ): Promise<ClaimOutcome> {
    const { userId, remotename, id, instanceKey, tools, timeouts } = claim;
    const [at, entry] = await answerOf(
      this.redis.commands.claimRemote(
        this.keys.remotes(userId),
        this.keys.tools(userId),
        JSON.stringify(remotename),
        nodeId,
        id,
        String(Buffer.byteLength(tools.text)),
        JSON.stringify([...timeouts]),
        tools.text,
        String(limits.maxRemotesPerUser),
        String(limits.maxToolsBytesPerUser),
        replaced === undefined ? '' : `${replaced.nodeId} ${replaced.id}`,
        claim.at === undefined ? '' : String(claim.at),
        isEarlierFirst ? '1' : '0',
        instanceKey ?? '-',
      ),
    );
    if (at === '-1')
      throw tooMany(`${limits.maxRemotesPerUser} remotes are connected, the most a user may have`);
    if (at === '-2') {
      throw tooMany(`the functions of all remotes together would pass ${limits.maxToolsBytesPerUser} bytes`);
    }
    const other = entry === '' ? undefined : readEntry(remotename, entry);
    if (at === '0') return other === undefined ? {} : { holder: other };
    claim.at = Number(at);
    if (other === undefined) return { wasFree: true };
    return other.id === id ? {} : { overruled: other };
  }

  async release({ userId, remotename, id }: NameClaim): Promise<void> {
    const { commands } = this.redis;
    await answerOf(
      commands.releaseRemote(
        this.keys.remotes(userId),
        this.keys.tools(userId),
        JSON.stringify(remotename),
        id,
      ),
    );
  }

  /** Who holds a name, dead or alive. */
  async find(userId: string, remotename: string): Promise<NameHolder | undefined> {
    const entry = await answerOf(
      this.redis.commands.hget(this.keys.remotes(userId), JSON.stringify(remotename)),
    );
    return entry === null ? undefined : readEntry(remotename, entry);
  }

  /** Who holds the names of a user, dead or alive. */
  async list(userId: string): Promise<NameHolder[]> {
    const entries = await answerOf(this.redis.commands.hgetall(this.keys.remotes(userId)));
    return Object.entries(entries).flatMap(([field, entry]) => {
      const remotename = readName(field);
      const holder = remotename === undefined ? undefined : readEntry(remotename, entry);
      return holder ?? [];
    });
  }

  /** Their function specs; without those that have gone meanwhile. */
  async withTools(userId: string, holders: readonly NameHolder[]): Promise<ListedElsewhere[]> {
    const missing = holders.filter(({ id }) => !this.#specs.has(id)).map(({ id }) => id);
    const fetched = new Map<string, JsonText>();
    if (missing.length > 0) {
      const texts = await answerOf(this.redis.commands.hmget(this.keys.tools(userId), ...missing));
      for (const [index, id] of missing.entries()) {
        const text = texts[index];
        if (text != null) fetched.set(id, new JsonText(text));
      }
    }
    const listed = holders.flatMap((holder) => {
      const tools = fetched.get(holder.id) ?? this.#specs.get(holder.id);
      return tools === undefined ? [] : { ...holder, tools };
    });
    for (const { id, tools } of listed) this.#keep(id, tools);
    return listed;
  }

  /** Removes what a dead node has left of a user. @returns the names of its remotes */
  async clear(userId: string, nodeId: string): Promise<string[]> {
    const { keys } = this;
    const fields = await answerOf(
      this.redis.commands.clearNode(keys.remotes(userId), keys.tools(userId), keys.instances(userId), nodeId),
    );
    return fields.flatMap((field) => readName(field) ?? []);
  }

  /** Removes what a node does not hold any more of a user. @returns the names of the remotes */
  async keepOnly(userId: string, nodeId: string, ids: readonly string[]): Promise<string[]> {
    const { keys } = this;
    const fields = await answerOf(
      this.redis.commands.keepOnly(keys.remotes(userId), keys.tools(userId), nodeId, ...ids),
    );
    return fields.flatMap((field) => readName(field) ?? []);
  }

  #keep(id: string, tools: JsonText): void {
    if (this.#specs.delete(id)) this.#specsLength -= tools.text.length;
    this.#specs.set(id, tools);
    this.#specsLength += tools.text.length;
    for (const [oldest, { text }] of this.#specs) {
      if (this.#specsLength <= MAX_KEPT_SPECS) return;
      this.#specs.delete(oldest);
      this.#specsLength -= text.length;
    }
  }
}

function tooMany(message: string): RemoteError {
  return new RemoteError('too-many-remotes', message);
}

function readEntry(remotename: string, entry: string): NameHolder | undefined {
  const [, nodeId = '', id = '', at = '', timeouts = ''] =
    /^(\S+) (\S+) (\d+) \d+ \S+ (.*)$/su.exec(entry) ?? [];
  return nodeId === ''
    ? undefined
    : { remotename, nodeId, id, at: Number(at), timeouts: readTimeouts(timeouts) };
}

function readTimeouts(text: string): ReadonlyMap<string, number> {
  const read = timeoutsSchema.safeParse(parse(text));
  return new Map(read.success ? read.data : []);
}

function readName(field: string): string | undefined {
  const name = parse(field);
  return typeof name === 'string' ? name : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
