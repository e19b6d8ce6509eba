import { startNodes, type NodesOptions } from './nodes.js';
import { RAW_ID, RawNode } from './raw-node.js';
import { FROM_RAW, INSTANCE_KEY, names } from './wire-version-1.js';

// of user "u1", remote "x", run "r1", as Redis has them
export const REMOTES = 'user:{InUxIg}:remotes';
export const TOOLS = 'user:{InUxIg}:tools';
export const INSTANCES = 'user:{InUxIg}:instances';
/** Of the instance of the tests. */
export const WAITING = `user:{InUxIg}:waiting:${INSTANCE_KEY}`;
export const EVENTS = 'user:{InUxIg}:events';
export const RUN = 'user:{InUxIg}:run:InIxIg';
export const SPECS = '[{"name":"f","x-big":12345678901234567890}]';

/** A real hub and a node of version 1 on one Redis. */
export async function startMixed(options: NodesOptions = {}) {
  const nodes = await startNodes({ count: 1, leaseMs: 60_000, ...options });
  const hub = nodes.node(0);
  const raw = new RawNode(nodes.redis.url, nodes.prefix);
  const [hubId = ''] = await raw.redis.smembers(`${nodes.prefix}:nodes`);
  await raw.join();
  const key = (name: string): string => `${nodes.prefix}:${name}`;
  return {
    hub,
    raw,
    hubId,
    key,
    /** Registers remote `x` of the node of version 1. */
    register: async (): Promise<void> => {
      await raw.redis.sadd(key(`node:{${RAW_ID}}:users`), 'u1');
      const entry = `${RAW_ID} ${names.connection} 1790000000000000 43 - [["slow",300]]`;
      await raw.redis.hset(key(REMOTES), '"x"', entry);
      await raw.redis.hset(key(TOOLS), names.connection, SPECS);
    },
    /** What the hub sends next, with the ids of this test as they are written in the wire. */
    mail: async (ids: { connection?: string; session?: string } = {}): Promise<string> => {
      let text = (await raw.mail()).replaceAll(hubId, names.hub);
      if (ids.connection !== undefined) text = text.replaceAll(ids.connection, names.connection);
      if (ids.session !== undefined) text = text.replaceAll(ids.session, names.session);
      return text;
    },
    say: async (message: string): Promise<void> => {
      await raw.publish(`node:{${hubId}}:mailbox`, FROM_RAW + message);
    },
    [Symbol.asyncDispose]: async () => {
      await raw[Symbol.asyncDispose]();
      await nodes[Symbol.asyncDispose]();
    },
  };
}

/** The same message with another number. */
export function numbered(message: string, n: number): string {
  return message.replace(/^(?<lengths>.{8}\["\w+",)0/su, `$<lengths>${n}`);
}

/** A message without a body whose head has another length than it says. */
export function lengthened(message: string): string {
  const head = message.slice(8);
  return `${String.fromCharCode(head.length)}\0\0\0\0\0\0\0${head}`;
}
