/** Something that is measured beside the floor. */
export interface Target {
  readonly name: string;
  readonly title: string;
  /** Its server, and the process of its clients: programs to build, relative to this folder. */
  readonly server: string;
  readonly clients: string;
  /** Packages, whose versions are told. */
  readonly packages: readonly string[];
  /** Rounds of 10,000 idle sessions; 0 when these clients would show nothing new. */
  readonly idleRounds: number;
  /** Whether its clients publish to each other. */
  readonly fansOut: boolean;
}

/** What everything is compared with. */
export const floor: Target = {
  name: 'floor',
  title: 'the floor: a bare relay on ws',
  server: 'servers/floor',
  clients: 'clients/envelope',
  packages: ['ws'],
  idleRounds: 0,
  fansOut: false,
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
    packages: [],
    idleRounds: 5,
    fansOut: true,
  },
  {
    name: 'sdk',
    title: 'hub, SDK clients',
    server: 'servers/hub',
    clients: 'clients/sdk',
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
