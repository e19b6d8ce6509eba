import type { HubConfigInput } from '@remotes-hub/server';
import { expect } from 'vitest';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { Message, TestSession } from '../../support/session.js';
import { ScriptedModel, stop, type Step } from './run-fixtures.js';

/** One agent, 7. */
export const agents: HubConfigInput['agents'] = [{ id: 7, name: 'Helper', model: { provider: 'offline' } }];

/** A real hub whose agent 7 runs on a scripted model. */
export async function startHub(steps: readonly Step[], config: HubConfigInput = {}) {
  const model = new ScriptedModel(steps);
  const hub = await startTestHub({ agents, ...config }, { createModel: () => model });
  return { hub, model, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

/** Prompts agent 7. Gives the id of the run. */
export async function prompt(
  session: TestSession,
  options: object = {},
  instruction = 'Do it.',
): Promise<string> {
  const reply = await session.request('send-agent-prompt', { agentId: 7, instruction, options });
  expect(reply).toMatchObject({ message: 'prompt accepted' });
  return String(reply['runId']);
}

/** The body of an event. */
export function bodyOf(message: Message): Record<string, unknown> {
  return message['body'] as Record<string, unknown>;
}

/** The end of a run. */
export const finished = async (session: TestSession) => bodyOf(await session.event('run-finished'));

/** Says a little and waits until the test lets it go on. */
export function waitingStep(): { readonly step: Extract<Step, (...given: never[]) => unknown>; go(): void } {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  return {
    step: async function* () {
      yield { type: 'text', text: 'one' };
      await gone;
      yield { type: 'text', text: 'two' };
      yield stop;
    },
    go: () => go(),
  };
}

/** Serves `f` of remote `x`, and answers nothing by itself. */
export async function serving(hub: TestHub, functions: readonly string[] = ['f']): Promise<TestSession> {
  const session = await hub.connect({ v1: true });
  await session.serve('x', functions);
  return session;
}
