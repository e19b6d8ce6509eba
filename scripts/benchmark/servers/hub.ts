/**
 * The hub as `remotes-hub start` runs it, with every duty on. Its log lines go to standard output, which the benchmark
 * discards.
 */
import { setTimeout } from 'node:timers/promises';
import { bufferedOutput, createHub, createLogger, letHeapGrow } from '@remotes-hub/server';
import { ownNodeStart } from '../node-start.js';
import { HUB_SECRET } from '../secret.js';
import { announce } from './instruments.js';

letHeapGrow();
const node = ownNodeStart();
const hub = createHub({
  config: {
    auth: { secret: HUB_SECRET },
    ...(node === undefined ? {} : { redis: { url: node.redisUrl } }),
  },
  log: createLogger('info', bufferedOutput()),
});
const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
if (node !== undefined) while (!(await fetch(`${url}/readyz`)).ok) await setTimeout(20);
announce({ url: `${url.replace('http', 'ws')}/ws` }, { counts: () => hub.counts() });
