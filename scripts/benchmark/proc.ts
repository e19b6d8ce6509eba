import { readFileSync, readdirSync } from 'node:fs';

/**
 * CPU time of a process and all its threads so far, in microseconds, as the scheduler counts it: to the nanosecond,
 * where the times of `process.cpuUsage` are sampled on some kernels. `undefined` where there is no `/proc`.
 */
export function cpuTimeUs(pid: number): number | undefined {
  const threads = `/proc/${pid}/task`;
  let nanoseconds = 0;
  try {
    for (const thread of readdirSync(threads)) {
      const [running] = readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ');
      nanoseconds += Number(running);
    }
  } catch {
    return undefined;
  }
  return nanoseconds / 1_000;
}

/** Resident memory of a process in bytes, `VmRSS` now or `VmHWM` at its peak; `undefined` where there is no `/proc`. */
export function residentBytes(pid: number, which: 'VmRSS' | 'VmHWM'): number | undefined {
  try {
    const line = new RegExp(String.raw`^${which}:\s+(\d+) kB`, 'm').exec(
      readFileSync(`/proc/${pid}/status`, 'utf8'),
    );
    return line?.[1] === undefined ? undefined : Number(line[1]) * 1_024;
  } catch {
    return undefined;
  }
}
