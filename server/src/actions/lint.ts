import { remoteLintSchema } from '@remotes-hub/protocol';
import { lintRemote } from '../agents/provider-tools/lint-remote.js';
import type { RemoteDirectory } from '../cluster/remote-directory.js';
import { defineAction, type Action } from '../sessions/define-action.js';
import { whenThere } from '../soon.js';

/** `remote-lint`. */
export function lintActions(directory: Pick<RemoteDirectory, 'get'>): Action[] {
  return [
    defineAction(remoteLintSchema, ({ body: { remotename, prefix } }, { session }) =>
      whenThere(directory.get(session.userId, remotename), (remote) => lintRemote(remote, prefix ?? '')),
    ),
  ];
}
