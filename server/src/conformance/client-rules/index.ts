import type { ClientUnderTest } from '../client-under-test.js';
import type { Rule } from '../rule.js';
import { callingRules } from './calling.js';
import { callRules } from './calls.js';
import { closingRules } from './closing.js';
import { loginRules } from './login.js';
import { messageRules } from './messages.js';

/** Everything that the kit checks of a client. */
export const clientRules: readonly Rule<ClientUnderTest>[] = [
  ...loginRules,
  ...messageRules,
  ...callRules,
  ...callingRules,
  ...closingRules,
];
