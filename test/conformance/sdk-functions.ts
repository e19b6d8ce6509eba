import { setTimeout as delay } from 'node:timers/promises';
import type { Hub } from '@remotes-hub/client';
import * as z from 'zod';

const REMOTE = 'conformance';
const ODD_REMOTE = 'conformance#1';

/** Serves the functions of protocol/README.md, "Conformance", with the SDK. */
export async function serveConformance(hub: Hub): Promise<void> {
  let count = 0;
  let waiting = 0;
  await hub.serve(REMOTE, {
    echo: {
      parameters: z.object({ value: z.unknown() }),
      handler: ({ value }) => value,
    },
    fail: {
      parameters: z.object({ message: z.string() }),
      handler: ({ message }) => {
        throw new Error(message);
      },
    },
    wait: {
      parameters: z.object({ ms: z.number() }),
      handler: async ({ ms }, { signal }) => {
        waiting += 1;
        try {
          return await delay(ms, 'waited', { signal });
        } finally {
          waiting -= 1;
        }
      },
    },
    waiting: { handler: () => waiting },
    count: { handler: () => (count += 1) },
    progress: {
      parameters: z.object({ steps: z.int() }),
      handler: ({ steps }, context) => {
        for (let step = 1; step <= steps; step += 1) context.progress(step);
        return steps;
      },
    },
    call: {
      parameters: z.object({
        remotename: z.string(),
        function: z.string(),
        args: z.record(z.string(), z.unknown()),
      }),
      handler: ({ remotename, function: name, args }) => hub.call(remotename, name, args),
    },
    repeat: {
      parameters: z.object({ text: z.string(), times: z.int() }),
      handler: ({ text, times }) => text.repeat(times),
    },
    name: { handler: () => REMOTE },
  });
  await hub.serve(ODD_REMOTE, { name: { handler: () => ODD_REMOTE } });
}
