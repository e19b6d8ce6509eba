import { agentListSchema, runCancelSchema, runGetSchema, sendAgentPromptSchema } from '@remotes-hub/protocol';
import type { Runs } from '../agents/runs.js';
import type { RunsEverywhere } from '../cluster/runs-everywhere.js';
import { defineAction, type Action } from '../sessions/define-action.js';
import { whenThere } from '../soon.js';

/** `agent-list`, `send-agent-prompt`, `run-cancel`, `run-get`. */
export function promptActions(runs: Runs, everywhere: RunsEverywhere): Action[] {
  return [
    defineAction(agentListSchema, () => ({ agents: runs.list() })),
    defineAction(sendAgentPromptSchema, ({ body: { agentId, instruction, options } }, { session }) => {
      const { runId } = runs.start({ userId: session.userId, agentId, instruction, options });
      return { message: 'prompt accepted', runId };
    }),
    defineAction(runCancelSchema, ({ body: { runId } }, { session }) =>
      whenThere(everywhere.cancel(session.userId, runId), () => ({ message: 'run cancelled', runId })),
    ),
    defineAction(runGetSchema, ({ body: { runId } }, { session }) =>
      whenThere(everywhere.replay(session.userId, runId), ({ events, firstSeq, isFinished }) => ({
        runId,
        firstSeq,
        isFinished,
        events,
      })),
    ),
  ];
}
