/** One way to call: a row of the tables. */
export interface CallRow {
  readonly title: string;
  readonly callers: number;
  /** Calls in flight of each caller. */
  readonly inFlight: number;
  readonly payloadBytes: number;
  /** How often longer than others its windows are: as there are fewer calls in a second. */
  readonly windows: number;
  /** In the daily mode too. */
  readonly isShort: boolean;
  /** Across two nodes too. */
  readonly isAcrossNodes: boolean;
}

const KIB = 1_024;
const MIB = 1_024 * KIB;

export const callRows: readonly CallRow[] = [
  {
    title: 'small, 64 in flight',
    callers: 1,
    inFlight: 64,
    payloadBytes: 0,
    windows: 1,
    isShort: true,
    isAcrossNodes: true,
  },
  {
    title: 'small, 8 callers x 8 in flight',
    callers: 8,
    inFlight: 8,
    payloadBytes: 0,
    windows: 1,
    isShort: true,
    isAcrossNodes: false,
  },
  {
    title: 'small, 1 in flight',
    callers: 1,
    inFlight: 1,
    payloadBytes: 0,
    windows: 1,
    isShort: true,
    isAcrossNodes: true,
  },
  {
    title: '10 KiB, 64 in flight',
    callers: 1,
    inFlight: 64,
    payloadBytes: 10 * KIB,
    windows: 1,
    isShort: true,
    isAcrossNodes: true,
  },
  {
    title: '10 KiB, 1 in flight',
    callers: 1,
    inFlight: 1,
    payloadBytes: 10 * KIB,
    windows: 1,
    isShort: false,
    isAcrossNodes: false,
  },
  {
    title: '1 MiB, 16 in flight',
    callers: 1,
    inFlight: 16,
    payloadBytes: MIB,
    windows: 1,
    isShort: false,
    isAcrossNodes: false,
  },
  {
    title: '1 MiB, 1 in flight',
    callers: 1,
    inFlight: 1,
    payloadBytes: MIB,
    windows: 2,
    isShort: true,
    isAcrossNodes: false,
  },
];
