import { answering, type Answers } from '../answering.js';
import { Payload, type PayloadKind } from '../payload.js';
import type { Adapter, Closing } from './adapter.js';
import { FanOut, type FanOutFigures } from './fan-out.js';
import { Load, type LoadFigures } from './load.js';

/** How calls are made: what `prepare` is asked with. */
export interface CallSetup {
  readonly url: string;
  /** Where the serving client connects, when that is another node. */
  readonly servingUrl?: string;
  /** One for the serving client, and one for each caller. */
  readonly tokens: readonly string[];
  readonly payload: PayloadKind;
  readonly payloadBytes: number;
  readonly inFlight: number;
}

interface ManySetup {
  readonly url: string;
  readonly tokens: readonly string[];
}

/** So many connections are opened at once; a hub bounds those of one address that have not logged in yet. */
const OPENED_AT_ONCE = 64;

/** The process of all clients of one target: answers the benchmark by the clients of `adapter`. */
export function work(adapter: Adapter, more: Answers = {}): void {
  const open: Closing[] = [];
  let load: Load | undefined;
  const fanOut = new FanOut();
  answering(
    {},
    {
      prepare: async (setup: CallSetup): Promise<void> => {
        load = await prepare(adapter, setup, open);
        await load.verify(setup.inFlight);
      },
      run: async ({ inFlight, windowMs }: { inFlight: number; windowMs: number }): Promise<LoadFigures> => {
        if (load === undefined) throw new Error('nothing is prepared');
        return load.run(inFlight, windowMs);
      },
      idle: async ({ url, tokens }: ManySetup): Promise<number> => {
        await atOnce(tokens, OPENED_AT_ONCE, async (token) => {
          open.push(await (adapter.idle?.({ url, token }) ?? lacking('be idle')));
        });
        return open.length;
      },
      receivers: async ({ url, tokens }: ManySetup): Promise<void> => {
        await atOnce(tokens, OPENED_AT_ONCE, async (token) => {
          const received = (isRight: boolean): void => fanOut.received(isRight);
          fanOut.add(await (adapter.fanOut?.({ url, token }, received) ?? lacking('publish')));
        });
      },
      publish: async ({ windowMs }: { windowMs: number }): Promise<FanOutFigures> => fanOut.run(windowMs),
      ...more,
    },
  );
}

async function prepare(
  adapter: Adapter,
  { url, servingUrl = url, tokens, payload, payloadBytes }: CallSetup,
  open: Closing[],
): Promise<Load> {
  const [serving = '', ...calling] = tokens;
  open.push(await (adapter.serve?.({ url: servingUrl, token: serving }) ?? lacking('serve')));
  const callers = await Promise.all(
    calling.map(async (token) => adapter.caller?.({ url, token }) ?? lacking('call')),
  );
  open.push(...callers);
  return new Load(callers, new Payload(payload, payloadBytes));
}

function lacking(what: string): never {
  throw new Error(`clients of this target do not ${what}`);
}

/** Does something for every item, for so many of them at a time. */
export async function atOnce<T>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: limit }, async () => {
      for (const item of rest) await task(item);
    }),
  );
}
