import type { AgentId, FunctionSpec, JsonObject, LintReport, RunEvent } from '@remotes-hub/protocol';
import { isRunEvent } from './events.js';
import { asNumber, isJsonObject } from './json-values.js';

/** A remote that is connected for this user, as `remote-list` tells it. */
export interface RemoteDescription {
  readonly remotename: string;
  /** Its functions, as they were connected. */
  readonly tools: readonly FunctionSpec[];
}

/** An agent that can be prompted. */
export interface AgentDescription {
  readonly agentId: AgentId;
  readonly name: string;
  /** Names of its native tools. */
  readonly tools: readonly string[];
}

/** What a login reply tells. */
export interface Login {
  readonly userId: string;
  readonly sessionId: string;
  readonly maxMessageBytes: number;
  readonly expiresAt: number | undefined;
  /** The hub still waits for answers to calls of this instance's earlier session. */
  readonly isResumed: boolean;
}

/** Reads the reply to `authenticate`; `undefined` when it is none. */
export function readLogin({
  userId,
  sessionId,
  maxMessageBytes,
  expiresAt,
  resumed,
}: JsonObject): Login | undefined {
  if (typeof userId !== 'string' || typeof sessionId !== 'string' || typeof maxMessageBytes !== 'number') {
    return undefined;
  }
  return {
    userId,
    sessionId,
    maxMessageBytes,
    expiresAt: asNumber(expiresAt),
    isResumed: resumed === true,
  };
}

/** Reads the reply to `remote-list`. */
export function readRemotes({ remotes }: JsonObject): readonly RemoteDescription[] | undefined {
  return isListOf(remotes, isRemoteDescription) ? remotes : undefined;
}

/** Reads the reply to `remote-lint`. */
export function readLint(reply: JsonObject): LintReport | undefined {
  return isLintReport(reply) ? reply : undefined;
}

/** Reads the reply to `agent-list`. */
export function readAgents({ agents }: JsonObject): readonly AgentDescription[] | undefined {
  return isListOf(agents, isAgentDescription) ? agents : undefined;
}

/** What `run-get` tells of a run. */
export interface RunReplay {
  readonly events: readonly RunEvent[];
}

/** Reads the reply to `run-get`; events that this client does not know are left out. */
export function readReplay({ events }: JsonObject): RunReplay | undefined {
  return Array.isArray(events) ? { events: events.filter((event) => isRunEvent(event)) } : undefined;
}

/** Reads the `warnings` of a reply; none when there are none. */
export function readWarnings({ warnings }: JsonObject): readonly string[] {
  return isListOf(warnings, isString) ? warnings : [];
}

function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] {
  return Array.isArray(value) && value.every(isItem);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isRemoteDescription(value: unknown): value is RemoteDescription {
  return isJsonObject(value) && isString(value['remotename']) && isListOf(value['tools'], isFunctionSpec);
}

function isLintReport(value: JsonObject): value is JsonObject & LintReport {
  const { remotename, functions, hints } = value;
  return isString(remotename) && Array.isArray(functions) && isListOf(hints, isString);
}

function isFunctionSpec(value: unknown): value is FunctionSpec {
  return isJsonObject(value) && isString(value['name']);
}

function isAgentDescription(value: unknown): value is AgentDescription {
  if (!isJsonObject(value)) return false;
  const { agentId, name, tools } = value;
  return (isString(agentId) || typeof agentId === 'number') && isString(name) && isListOf(tools, isString);
}
