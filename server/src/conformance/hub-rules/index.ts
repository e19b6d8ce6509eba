import type { HubUnderTest } from '../hub-under-test.js';
import type { Rule } from '../rule.js';
import { agentRules } from './agents.js';
import { callRules } from './calls.js';
import { deadlineRules } from './deadlines.js';
import { endingRules } from './endings.js';
import { frameRules } from './frames.js';
import { httpRules } from './http.js';
import { loginRules } from './login.js';
import { messageRules } from './messages.js';
import { nameRules } from './names.js';
import { nonceRules } from './nonces.js';
import { orderRules } from './order.js';
import { remoteRules } from './remotes.js';
import { resultRules } from './results.js';
import { resumingRules } from './resuming.js';
import { schemaRules } from './schemas.js';
import { sessionRules } from './sessions.js';

/** Everything that the kit checks of a hub, in the order of the specification. */
export const hubRules: readonly Rule<HubUnderTest>[] = [
  ...loginRules,
  ...messageRules,
  ...nonceRules,
  ...frameRules,
  ...orderRules,
  ...sessionRules,
  ...remoteRules,
  ...nameRules,
  ...callRules,
  ...resultRules,
  ...deadlineRules,
  ...endingRules,
  ...resumingRules,
  ...schemaRules,
  ...httpRules,
  ...agentRules,
];
