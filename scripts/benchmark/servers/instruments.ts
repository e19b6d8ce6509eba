import { answering, type Answers } from '../answering.js';

/**
 * Tells where a measured server listens. Where there is no `/proc` it is asked for its own CPU time and memory.
 * `pid` is given when the server is a process of another program.
 */
export function announce(started: { url: string; pid?: number }, answers: Answers = {}): void {
  answering(
    { pid: process.pid, ...started },
    {
      usage: () => {
        const { user, system } = process.cpuUsage();
        return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() };
      },
      peak: () => process.resourceUsage().maxRSS * 1024,
      collect: () => {
        for (let round = 0; round < 4; round += 1) globalThis.gc?.();
        return process.memoryUsage().heapUsed;
      },
      ...answers,
    },
  );
}
