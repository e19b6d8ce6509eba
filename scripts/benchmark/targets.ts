/** Something that is measured beside the floor. */
export interface Target {
  readonly name: string;
  readonly title: string;
  /** Its server, and the process of its clients: programs to build, relative to this folder. */
  readonly server: string;
  readonly clients: string;
  /** One of two nodes over Redis, for the same clients; `undefined` when calls across nodes are not measured. */
  readonly node: string | undefined;
  /** Packages, whose versions are told. */
  readonly packages: readonly string[];
  /** Rounds of 10,000 idle sessions; 0 when these clients would show nothing new. */
  readonly idleRounds: number;
  /** Whether its clients publish to each other. */
  readonly fansOut: boolean;
}

/** Something whose calls across two nodes are measured. */
export type NodeTarget = Pick<Target, 'name' | 'title' | 'clients'> & { readonly node: string };

/** Those of the targets that have nodes. */
export function withNodes(targets: readonly Target[]): NodeTarget[] {
  return targets.flatMap(({ name, title, clients, node }) =>
    node === undefined ? [] : [{ name, title, clients, node }],
  );
}

/** What everything is compared with. */
export const floor: Target = {
  name: 'floor',
  title: 'the floor: a bare relay on ws',
  server: 'servers/floor',
  clients: 'clients/envelope',
  node: undefined,
  packages: ['ws'],
  idleRounds: 0,
  fansOut: false,
};

/** What calls across nodes are compared with. */
export const floorRedis: NodeTarget = {
  name: 'floor-redis',
  title: 'the floor of nodes: bare relays on ws over Redis',
  clients: 'clients/envelope',
  node: 'servers/floor-redis',
};

/** What the floor of nodes costs when it writes to Redis at once what belongs to one turn. */
export const pipelinedFloor: NodeTarget = {
  ...floorRedis,
  name: 'floor-pipelined',
  title: 'floor, pipelined',
  node: 'servers/floor-redis-pipelined',
};

/** What fan-out is compared with. */
export const fanOutFloor: Target = {
  ...floor,
  server: 'servers/fan-out-floor',
  clients: 'clients/fan-out-floor',
};

/** The hub, by its two kinds of clients. */
export const hubTargets: readonly Target[] = [
  {
    name: 'hub',
    title: 'hub, bare ws clients',
    server: 'servers/hub',
    clients: 'clients/envelope',
    node: 'servers/hub',
    packages: [],
    idleRounds: 5,
    fansOut: true,
  },
  {
    name: 'sdk',
    title: 'hub, SDK clients',
    server: 'servers/hub',
    clients: 'clients/sdk',
    node: 'servers/hub',
    packages: [],
    idleRounds: 0,
    fansOut: false,
  },
];

/** The hub, with clients that surround the calls with much else. */
export const growingHub: Pick<Target, 'server' | 'clients'> = {
  server: 'servers/hub',
  clients: 'clients/growth',
};
