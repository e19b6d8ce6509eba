import { expect } from 'vitest';
import { logIn, serve, start } from '../server/calls/resuming-fixtures.js';
import { FaultProxy } from '../support/fault-proxy.js';
import type { TestSession } from '../support/session.js';
import { startNodes, type Nodes, type NodesOptions } from './nodes.js';

/** An instance that serves `x` on node 0, and a caller on the last node, with a call in flight. */
export async function startLost(options: NodesOptions = {}, resumeMs = 20_000) {
  const nodes = await startNodes({ count: 3, ...options });
  const { session: serving } = await logIn(nodes.node(0));
  const caller = await nodes.node(2).connect({ v1: true });
  await serve(serving, 'x', resumeMs);
  await caller.event('remote-connected');
  const { requestId, reply } = await start(caller, serving);
  return {
    nodes,
    serving,
    caller,
    requestId,
    reply,
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  };
}

/** The instance comes back on a node. */
export async function comeBack(nodes: Nodes, index: number): Promise<TestSession> {
  const { session, reply } = await logIn(nodes.node(index));
  expect(reply).toMatchObject({ message: 'authenticated', resumed: true });
  return session;
}

/** The way of one node to Redis. */
export interface Mortal extends AsyncDisposable {
  readonly urlOf: (index: number, url: string) => Promise<string>;
  /** The others must think that it is dead. */
  die(): void;
}

/** A node that can die for the others. */
export function mortalNode(mortalIndex: number): Mortal {
  let proxy: FaultProxy | undefined;
  return {
    urlOf: async (index, url) => {
      if (index !== mortalIndex) return url;
      proxy = await FaultProxy.start(url);
      return proxy.url;
    },
    die: () => {
      if (proxy === undefined) throw new Error('it was never born');
      proxy.isDown = true;
      proxy.cut();
    },
    [Symbol.asyncDispose]: async () => proxy?.[Symbol.asyncDispose](),
  };
}
