import type { LintProvider } from '@remotes-hub/protocol';

/** What a provider takes of a tool's parameters, beyond what all of them do. */
export interface ToolRules {
  /** What a property at the top may be called; absent when anything goes. */
  readonly propertyName?: RegExp;
  /** Whether patterns may look around, refer back and name properties of characters. */
  readonly takesAnyPattern: boolean;
}

/**
 * The rules by provider. OpenAI answers a look-around with "regex lookaround is not supported", Anthropic a
 * property with "Property keys should match pattern"; either refuses the whole request for it.
 */
export const toolRules: Readonly<Record<LintProvider, ToolRules>> = {
  'openai-compatible': { takesAnyPattern: false },
  anthropic: { propertyName: /^[a-zA-Z0-9_.-]{1,64}$/u, takesAnyPattern: true },
};
