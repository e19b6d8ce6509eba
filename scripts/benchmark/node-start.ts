/** What a server is told when it is one of two nodes. */
export interface NodeStart {
  readonly redisUrl: string;
  readonly node: 1 | 2;
  /** Free ports of node 1 and of node 2, for nodes that are linked without Redis. */
  readonly linkPorts: readonly [number, number];
}

/** As what follows the program on its command line. */
export function nodeArguments(start: NodeStart): string[] {
  return [JSON.stringify(start)];
}

/** What this process was told; `undefined` when it is a server of its own. */
export function ownNodeStart(): NodeStart | undefined {
  const [, , text] = process.argv;
  return text === undefined ? undefined : (JSON.parse(text) as NodeStart);
}
