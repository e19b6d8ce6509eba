import { isDeepStrictEqual } from 'node:util';

/** What makes up the arguments: rows of a table, or one long text. */
export const payloadKinds = ['rows', 'text'] as const;
export type PayloadKind = (typeof payloadKinds)[number];

/** One row of a table, some 100 bytes of JSON. */
interface PayloadRow {
  readonly id: number;
  readonly name: string;
  readonly price: number;
  readonly available: boolean;
  readonly tags: readonly string[];
}

/** Arguments of `echo`, and so its result. `n` is another one in every call. */
export interface Echo {
  readonly n: number;
  readonly rows?: readonly PayloadRow[];
  readonly text?: string;
}

/** The function that is served; a hub checks arguments against its `parameters`. */
export const echoSpec = {
  name: 'echo',
  description: 'Echoes its arguments.',
  parameters: {
    type: 'object',
    properties: {
      n: { type: 'integer' },
      text: { type: 'string' },
      rows: { type: 'array', items: { type: 'object' } },
    },
    required: ['n'],
  },
};

/** Arguments of one size, and whether a reply is the one to them. */
export class Payload {
  readonly #rest: Omit<Echo, 'n'>;

  /** @param bytes about how much JSON text the arguments are; 0 for a number alone */
  constructor(kind: PayloadKind, bytes: number) {
    if (bytes === 0) this.#rest = {};
    else this.#rest = kind === 'text' ? { text: 'x'.repeat(bytes) } : { rows: makeRows(bytes) };
  }

  arguments(n: number): Echo {
    return { n, ...this.#rest };
  }

  /** Compares everything. @throws when it is another one */
  check(reply: unknown, n: number): void {
    if (!isDeepStrictEqual(reply, this.arguments(n))) refuse(reply, n);
  }

  /** Compares what a mix-up would change; cheap enough for a measured client. @throws when it is another one */
  glance(reply: unknown, n: number): void {
    const { n: own, rows, text } = reply as Partial<Echo>;
    const expected = this.#rest.rows;
    const index = expected === undefined ? 0 : n % expected.length;
    const isOwn =
      own === n &&
      text === this.#rest.text &&
      rows?.length === expected?.length &&
      rows?.[index]?.name === expected?.[index]?.name;
    if (!isOwn) refuse(reply, n);
  }
}

function refuse(reply: unknown, n: number): never {
  throw new Error(`call ${n} was answered with ${JSON.stringify(reply)?.slice(0, 200)}`);
}

function makeRows(bytes: number): PayloadRow[] {
  const rows: PayloadRow[] = [];
  for (let length = 0, id = 0; length < bytes; id += 1) {
    const row = {
      id,
      name: `article ${id}`,
      price: (id % 1_000) * 1.25,
      available: id % 3 > 0,
      tags: ['new', `shelf ${id % 17}`],
    };
    rows.push(row);
    length += JSON.stringify(row).length + 1;
  }
  return rows;
}
