/** A hub in a process of its own, for `storm.ts` to take away: `hub-process.ts PORT`. */
import { createHub } from '@remotes-hub/server';

const hub = createHub({
  config: {
    auth: { secret: 'a secret of the storm, long enough for HS256' },
    limits: { maxSessionsPerUser: 2_000 },
    log: { level: 'error' },
  },
});
const { url } = await hub.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0) });
const { token } = await hub.issueToken('u1', 3_600_000);
process.send?.({ url, token });
process.on('SIGTERM', () => {
  void hub.close().then(() => process.exit(0));
});
