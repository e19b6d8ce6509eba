import { agentListSchema, runCancelSchema, runGetSchema, sendAgentPromptSchema } from '@remotes-hub/protocol';
import type { Runs } from '../agents/runs.js';
import { defineAction, type Action } from '../sessions/define-action.js';

/** `agent-list`, `send-agent-prompt`, `run-cancel`, `run-get`. */
export function promptActions(runs: Runs): Action[] {
  return [
    defineAction(agentListSchema, () => ({ agents: runs.list() })),
    defineAction(sendAgentPromptSchema, ({ body: { agentId, instruction, options } }, { session }) => {
      const { runId } = runs.start({ userId: session.userId, agentId, instruction, options });
      return { message: 'prompt accepted', runId };
    }),
    defineAction(runCancelSchema, ({ body: { runId } }, { session }) => {
      runs.cancel(session.userId, runId);
      return { message: 'run cancelled', runId };
    }),
    defineAction(runGetSchema, ({ body: { runId } }, { session }) => {
      const { events, firstSeq, isFinished } = runs.replay(session.userId, runId);
      return { runId, firstSeq, isFinished, events };
    }),
  ];
}
