import type { AgentId, RunEvent, RunStatus } from '@remotes-hub/protocol';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { HubError } from '../errors.js';
import type { Hub } from '../hub.js';
import type { PromptOptions, PromptedRun, RunResult } from '../runs.js';
import { useProvided } from './hub-context.js';

interface RunView {
  /** `starting` until the hub has accepted the prompt; `failed` too when it refused it, or the session ended. */
  readonly status: 'idle' | 'starting' | 'running' | RunStatus;
  readonly runId: string | undefined;
  /** What happened so far, in order. */
  readonly events: readonly RunEvent[];
  /** What the agent said so far. */
  readonly text: string;
  /** How the run ended, once it has. */
  readonly result: RunResult | undefined;
  /** Why there is no result: a `HubError`, or what was wrong with the prompt. */
  readonly error: unknown;
}

/** Prompts to agents, of which the last one is followed. */
export interface Prompting extends RunView {
  /**
   * Prompts an agent and follows the run; one before goes on unseen, unless it is cancelled first. Who does not use the
   * promise need not catch its rejection: `error` tells it too.
   * @throws {HubError} as `hub.prompt`; `connection-lost` while there is no session yet
   */
  readonly prompt: (agentId: AgentId, instruction: string, options?: PromptOptions) => Promise<RunResult>;
  /** Asks the hub to end the run that is followed. @throws {HubError} */
  readonly cancel: () => Promise<void>;
}

const idle: RunView = {
  status: 'idle',
  runId: undefined,
  events: [],
  text: '',
  result: undefined,
  error: undefined,
};

/** Prompts agents and shows the run. A run belongs to the user: unmounting the component does not end it. */
export function useRun(): Prompting {
  const { hub } = useProvided('useRun').status;
  const [view, setView] = useState(idle);
  const current = useRef<PromptedRun>(undefined);
  useEffect(
    () => () => {
      current.current = undefined;
    },
    [],
  );
  const prompt = useCallback(
    (agentId: AgentId, instruction: string, options?: PromptOptions): Promise<RunResult> => {
      const prompted = hub?.prompt(agentId, instruction, options);
      current.current = prompted;
      const isFollowed = (): boolean => current.current === prompted;
      setView({ ...idle, status: 'starting' });
      const result = follow(prompted, isFollowed, setView);
      result.catch((error: unknown) => {
        if (isFollowed()) setView((before) => ({ ...before, status: 'failed', error }));
      });
      return result;
    },
    [hub],
  );
  const cancel = useCallback(async () => current.current?.cancel(), []);
  return useMemo(() => ({ ...view, prompt, cancel }), [view, prompt, cancel]);
}

async function follow(
  prompted: ReturnType<Hub['prompt']> | undefined,
  isFollowed: () => boolean,
  setView: (change: (before: RunView) => RunView) => void,
): Promise<RunResult> {
  if (prompted === undefined) {
    throw new HubError({ code: 'connection-lost', message: 'the session is not open yet' });
  }
  const { runId, result } = await prompted;
  const change = (changed: (before: RunView) => Partial<RunView>): void => {
    if (isFollowed()) setView((before) => ({ ...before, ...changed(before) }));
  };
  change(() => ({ status: 'running', runId }));
  for await (const event of prompted) {
    if (!isFollowed()) break;
    change(({ events, text }) => ({
      events: [...events, event],
      text: event.action === 'run-text' ? text + event.body.text : text,
    }));
  }
  const ended = await result;
  change(() => ({ status: ended.status, result: ended }));
  return ended;
}
