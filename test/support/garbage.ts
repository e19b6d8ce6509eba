import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What collects all garbage of this process at once. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
