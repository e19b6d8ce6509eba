import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The cores that the server and its clients are kept on, so that neither takes time from the other. */
export interface Pinning {
  readonly server: number;
  readonly clients: number;
}

/** The first two cores this process may use; a sentence when processes cannot be pinned here. */
export function choosePinning(): Pinning | string {
  if (spawnSync('taskset', ['--version']).status !== 0) return 'not pinned: there is no taskset here';
  const [server, clients] = allowedCores();
  if (server === undefined || clients === undefined) return 'not pinned: there are no two cores here';
  return { server, clients };
}

/** From a list such as `0-3,8`. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readStatus())?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 || 0 }, (_, index) => first + index);
  });
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
