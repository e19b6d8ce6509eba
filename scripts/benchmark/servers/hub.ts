/** The hub as it comes, with every duty on. Its log lines go to standard output, which the benchmark discards. */
import { bufferedOutput, createHub, createLogger } from '@remotes-hub/server';
import { HUB_SECRET } from '../secret.js';
import { announce } from './instruments.js';

const hub = createHub({
  config: { auth: { secret: HUB_SECRET } },
  log: createLogger('info', bufferedOutput()), // as `remotes-hub start` does
});
const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
announce({ url: `${url.replace('http', 'ws')}/ws` }, { counts: () => hub.counts() });
