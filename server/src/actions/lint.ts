import { remoteLintSchema } from '@remotes-hub/protocol';
import { lintRemote } from '../agents/provider-tools/lint-remote.js';
import type { RemoteRegistry } from '../remotes/remote-registry.js';
import { defineAction, type Action } from '../sessions/define-action.js';

/** `remote-lint`. */
export function lintActions(registry: Pick<RemoteRegistry, 'get'>): Action[] {
  return [
    defineAction(remoteLintSchema, ({ body: { remotename, prefix } }, { session }) =>
      lintRemote(registry.get(session.userId, remotename), prefix ?? ''),
    ),
  ];
}
