import { remoteLintSchema } from './lint.js';
import {
  agentListSchema,
  runCancelSchema,
  runEventSchema,
  runGetSchema,
  sendAgentPromptSchema,
} from './prompts.js';
import {
  callProgressSchema,
  forwardedCallSchema,
  forwardedCancelSchema,
  remoteCallCancelSchema,
  remoteCallProgressSchema,
  remoteCallResultSchema,
  remoteCallSchema,
  remoteConnectSchema,
  remoteConnectedEventSchema,
  remoteDisconnectSchema,
  remoteDisconnectedEventSchema,
  remoteListSchema,
} from './remotes.js';
import {
  authenticateSchema,
  pingSchema,
  sessionClosingEventSchema,
  sessionExpiringEventSchema,
  sessionOpenedEventSchema,
} from './sessions.js';

/** Every message that a session may send, by its action. */
export const sessionMessageSchemas = {
  authenticate: authenticateSchema,
  ping: pingSchema,
  'remote-connect': remoteConnectSchema,
  'remote-disconnect': remoteDisconnectSchema,
  'remote-list': remoteListSchema,
  'remote-lint': remoteLintSchema,
  'remote-call': remoteCallSchema,
  'remote-call-cancel': remoteCallCancelSchema,
  'remote-call-result': remoteCallResultSchema,
  'remote-call-progress': remoteCallProgressSchema,
  'agent-list': agentListSchema,
  'send-agent-prompt': sendAgentPromptSchema,
  'run-cancel': runCancelSchema,
  'run-get': runGetSchema,
} as const;

/** An action that a session may send. */
export type SessionAction = keyof typeof sessionMessageSchemas;

/** Every message with an action that a hub may send, by its action. Replies have none. */
export const hubMessageSchemas = {
  'remote-call': forwardedCallSchema,
  'remote-call-cancel': forwardedCancelSchema,
  'remote-call-progress': callProgressSchema,
  'session-opened': sessionOpenedEventSchema,
  'session-expiring': sessionExpiringEventSchema,
  'session-closing': sessionClosingEventSchema,
  'remote-connected': remoteConnectedEventSchema,
  'remote-disconnected': remoteDisconnectedEventSchema,
  'run-started': runEventSchema,
  'run-text': runEventSchema,
  'run-tool-call': runEventSchema,
  'run-tool-result': runEventSchema,
  'run-finished': runEventSchema,
} as const;

/** An action that a hub may send. */
export type HubAction = keyof typeof hubMessageSchemas;
