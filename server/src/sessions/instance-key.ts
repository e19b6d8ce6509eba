import { createHash } from 'node:crypto';

/** What the hub knows an instance by: its id is a secret of its client, and is kept and passed on by nobody. */
export function instanceKeyOf(instanceId: string): string {
  return createHash('sha256').update(JSON.stringify(instanceId)).digest('base64url');
}
