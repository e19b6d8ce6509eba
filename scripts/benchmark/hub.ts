/** The hub with every duty on, as a process of its own. Started by `scripts/benchmark/targets.ts`. */
import { createHub } from '@remotes-hub/server';

const hub = createHub({
  config: { auth: { secret: 'a secret of the benchmark, long enough' }, log: { level: 'warn' } },
});
const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
const { token } = await hub.issueToken('bench', 3_600_000);
process.send?.({ url: `${url.replace('http', 'ws')}/ws`, token });
process.on('message', (question) => {
  if (question === 'counts') process.send?.({ counts: hub.counts() });
});
