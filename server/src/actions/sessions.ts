import { authenticateSchema, pingSchema } from '@remotes-hub/protocol';
import type { JsonFields } from '../json/json-text.js';
import { AuthenticationError, type Authenticator } from '../authentication/authenticate.js';
import { defineAction, type Action } from '../sessions/define-action.js';
import type { Session } from '../sessions/session.js';

/** What the actions on a session itself work with. */
export interface SessionActionParts {
  readonly authenticator: Authenticator;
  readonly greet: (session: Session) => JsonFields;
}

/** `authenticate`, once more, and `ping`. */
export function sessionActions({ authenticator, greet }: SessionActionParts): Action[] {
  return [
    defineAction(authenticateSchema, async ({ body }, { session }) => {
      const { userId, expiresAt } = await authenticator.authenticate(body, { address: session.address });
      if (userId !== session.userId) {
        throw new AuthenticationError('invalid-credentials', 'a session cannot change its user');
      }
      session.expireAt(expiresAt);
      return greet(session);
    }),
    defineAction(pingSchema, () => ({ message: 'pong' })),
  ];
}
