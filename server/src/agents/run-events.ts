import type {
  AgentId,
  RunEvent,
  RunFailureCode,
  RunFinishReason,
  RunStatus,
  RunTool,
  RunUsage,
} from '@remotes-hub/protocol';
import { JsonText, writeJson, type JsonFields } from '../json/json-text.js';
import type { RunRecord } from './run-history.js';
import type { ToolOutcome } from './tool-outcome.js';

/** Sends events to every session of a user. */
export interface EventBroadcaster {
  /** @param body the JSON text of an object */
  broadcast(userId: string, action: RunEvent['action'], body: JsonText): void;
}

/** One tool call as events show it. */
export interface ShownToolCall {
  readonly callId: string;
  readonly tool: RunTool;
  /** The arguments as the model wrote them; a JSON string of its text when they are no object. */
  readonly args: JsonText;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly output: string;
  readonly usage: RunUsage;
  /** Why the answer stops before its end, when it does. */
  readonly finishReason?: RunFinishReason;
  /** Why it has not completed. */
  readonly code?: RunFailureCode;
  /** Only with status `failed`: a sentence for people. */
  readonly error?: string;
}

/** The events of one run, numbered from 0: recorded, and sent to every session that its user has then. */
export class RunEvents {
  #seq = 0;

  constructor(
    private readonly broadcaster: EventBroadcaster,
    private readonly record: RunRecord,
  ) {}

  started(agentId: AgentId, tools: readonly RunTool[], warnings: readonly string[]): void {
    this.#send('run-started', { agentId, tools, warnings });
  }

  text(text: string): void {
    this.#send('run-text', { text });
  }

  toolCall({ callId, tool, args }: ShownToolCall): void {
    this.#send('run-tool-call', { callId, ...tool, args });
  }

  toolResult(callId: string, name: string, { content, isError, code }: ToolOutcome): void {
    this.#send('run-tool-result', { callId, name, content, isError, code });
  }

  finished({ status, output, usage, finishReason, code, error }: RunEnd): void {
    this.#send('run-finished', { status, output, usage, finishReason, code, error });
  }

  #send(action: RunEvent['action'], fields: JsonFields): void {
    const { userId, runId } = this.record;
    const body = new JsonText(writeJson({ runId, seq: this.#seq, ...fields }));
    this.#seq += 1;
    this.record.add(action, body);
    this.broadcaster.broadcast(userId, action, body);
  }
}
