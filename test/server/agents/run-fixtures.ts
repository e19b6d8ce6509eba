import { runEventSchema, type FunctionSpec, type RunEvent } from '@remotes-hub/protocol';
import * as z from 'zod';
import { AgentDirectory } from '../../../server/src/agents/agent-directory.js';
import type { Model, ModelPart, ModelRequest } from '../../../server/src/agents/models/model.js';
import { Conversations } from '../../../server/src/agents/conversations.js';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';
import { builtInTools } from '../../../server/src/agents/native-tools.js';
import type { EventBroadcaster } from '../../../server/src/agents/run-events.js';
import type { ConnectedRemote } from '../../../server/src/agents/run-tools.js';
import { Runs, type Prompt, type RunsOptions } from '../../../server/src/agents/runs.js';
import type { CallStarter } from '../../../server/src/agents/tool-caller.js';
import type { CallerReason, CallRequest, StartedCall } from '../../../server/src/calls/call-request.js';
import { LocalBackplane } from '../../../server/src/cluster/local-backplane.js';
import type { AgentConfig } from '../../../server/src/config/config-schema.js';
import { JsonText } from '../../../server/src/json/json-text.js';
import { createLogger } from '../../../server/src/observability/logger.js';
import { RunCounts } from '../../../server/src/observability/metrics.js';
import { Tracing } from '../../../server/src/observability/tracing.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';

/** What a scripted model does in one step. */
export type Step = readonly ModelPart[] | ((request: ModelRequest) => AsyncIterable<ModelPart>);

export const stop: ModelPart = { type: 'finish', reason: 'stop' };

/** A text part and its end. */
export function says(text: string): readonly ModelPart[] {
  return [{ type: 'text', text }, stop];
}

/** A tool call; its id is `id`, or the name when that is enough. */
export function calling(name: string, args = '{}', callId = name): ModelPart {
  return { type: 'tool-call', callId, name, args };
}

/** A model that does what it was told, one step after the other, the last one again and again. */
export class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly steps: readonly Step[]) {}

  async *stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const step = this.steps[Math.min(this.requests.length, this.steps.length - 1)] ?? [stop];
    this.requests.push(request);
    yield* typeof step === 'function' ? step(request) : step;
  }

  /** The results that the model got in its request number `index`, counted from 0. */
  results(index: number): { callId: string; content: string; isError: boolean }[] {
    const last = this.requests[index]?.messages.at(-1);
    if (last?.role !== 'tool') return [];
    return last.results.map(({ callId, content, isError }) => ({ callId, content, isError }));
  }
}

/** A call that waits until the test ends it; a cancelled one fails at once, as the hub's do. */
export class FakeCall implements StartedCall {
  readonly result: Promise<JsonText>;
  readonly reasons: CallerReason[] = [];
  #settle: { resolve(result: JsonText): void; reject(error: RemoteError): void } | undefined;

  constructor(readonly request: CallRequest) {
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  answer(json: string): void {
    this.#settle?.resolve(new JsonText(json));
  }

  fail(error: RemoteError): void {
    this.#settle?.reject(error);
  }

  cancel(reason: CallerReason): void {
    this.reasons.push(reason);
    this.fail(new RemoteError('call-cancelled', 'the caller cancelled the call'));
  }
}

/** The road of calls, with the serving session played by the test: by a handler, or by hand. */
export class FakeCalls implements CallStarter {
  readonly started: FakeCall[] = [];
  #waiting: { count: number; resolve(): void } | undefined;

  constructor(private readonly handle?: (call: FakeCall) => void) {}

  start(request: CallRequest): StartedCall {
    const call = new FakeCall(request);
    this.started.push(call);
    this.handle?.(call);
    if (this.#waiting && this.started.length >= this.#waiting.count) this.#waiting.resolve();
    return call;
  }

  /** Waits until so many calls have been started. */
  async untilStarted(count: number): Promise<readonly FakeCall[]> {
    if (this.started.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting = { count, resolve };
      });
    }
    return this.started;
  }
}

/** Receives the events of runs, checks each against its schema and its place, and lets a test wait for one. */
export class EventRecorder implements EventBroadcaster {
  readonly events: { userId: string; event: RunEvent; text: string }[] = [];
  readonly #next = new Map<string, number>();
  #waiters: { fits(event: RunEvent): boolean; resolve(event: RunEvent): void }[] = [];

  broadcast(userId: string, action: RunEvent['action'], body: JsonText): void {
    const event = runEventSchema.parse({ action, body: body.parse() });
    const { runId, seq } = event.body;
    if (seq !== (this.#next.get(runId) ?? 0)) throw new Error(`event ${seq} of ${runId} is out of place`);
    this.#next.set(runId, action === 'run-finished' ? Infinity : seq + 1);
    this.events.push({ userId, event, text: body.text });
    for (const waiter of this.#waiters) if (waiter.fits(event)) waiter.resolve(event);
  }

  /** The first event of this kind, of this run or of any. */
  async event<A extends RunEvent['action']>(
    action: A,
    runId?: string,
  ): Promise<Extract<RunEvent, { action: A }>> {
    const fits = (event: RunEvent): event is Extract<RunEvent, { action: A }> =>
      event.action === action && (runId === undefined || event.body.runId === runId);
    for (const { event } of this.events) if (fits(event)) return event;
    return new Promise((resolve) => {
      this.#waiters.push({ fits, resolve: (event) => fits(event) && resolve(event) });
    });
  }

  /** All events of one kind so far. */
  all<A extends RunEvent['action']>(action: A): Extract<RunEvent, { action: A }>[] {
    return this.events
      .map(({ event }) => event)
      .filter((event): event is Extract<RunEvent, { action: A }> => event.action === action);
  }
}

/** A remote out of function specs, or of names alone. */
export function remote(remotename: string, functions: readonly (string | FunctionSpec)[]): ConnectedRemote {
  const specs = functions.map((one) => (typeof one === 'string' ? { name: one } : one));
  return { remotename, functions: new Map(specs.map((spec) => [spec.name, { spec }])) };
}

export const agent: AgentConfig = {
  id: 7,
  name: 'Helper',
  instructions: 'Be brief.',
  model: { provider: 'offline' },
  tools: ['current_time'],
  maxToolCalls: 100,
  timeoutMs: 600_000,
};

/** The agent of the tests, with these fields. */
export function agentsOf(fields: Partial<AgentConfig>): AgentDirectory {
  return new AgentDirectory([{ ...agent, ...fields }]);
}

const logLineSchema = z.looseObject({ msg: z.string(), level: z.number() });

/** Runs with everything around them played by the test. */
export interface TestRuns extends AsyncDisposable {
  readonly runs: Runs;
  readonly events: EventRecorder;
  readonly calls: FakeCalls;
  readonly model: ScriptedModel;
  /** Log lines, parsed. */
  readonly logged: z.infer<typeof logLineSchema>[];
  /** Starts a run and waits for its end. */
  finish(
    options?: unknown,
    prompt?: Partial<Prompt>,
  ): Promise<Extract<RunEvent, { action: 'run-finished' }>['body']>;
}

/** What a test sets itself. */
export interface TestRunsOptions extends Partial<
  Omit<RunsOptions, 'calls' | 'events' | 'limits' | 'log' | 'nativeTools' | 'remotes'>
> {
  readonly limits?: Partial<RunsOptions['limits']>;
  /** By name. @default those of the hub */
  readonly nativeTools?: ReadonlyMap<string, NativeTool>;
  /** In place of {@link nativeTools}. */
  readonly nativeToolSets?: RunsOptions['nativeTools'];
  readonly steps?: readonly Step[];
  readonly calls?: FakeCalls;
  readonly remotes?: readonly ConnectedRemote[];
}

/** Makes runs whose user `ada` has these remotes. */
export function testRuns({
  steps = [says('done')],
  calls = new FakeCalls(),
  remotes = [],
  limits = {},
  nativeTools = builtInTools(),
  nativeToolSets = { of: async ({ tools }) => ({ agentTools: tools, nativeTools }) },
  ...given
}: TestRunsOptions = {}): TestRuns {
  const events = new EventRecorder();
  const model = new ScriptedModel(steps);
  const logged: TestRuns['logged'] = [];
  const log = createLogger('info', {
    write: (line) => void logged.push(logLineSchema.parse(JSON.parse(line))),
  });
  const runs = new Runs({
    agents: new AgentDirectory([agent]),
    createModel: () => model,
    modelKeys: new Map(),
    conversations: new Conversations({ maxConversationsPerUser: 8, conversationTtlMs: 60_000 }),
    ...given,
    nativeTools: nativeToolSets,
    limits: { maxRunsPerUser: 4, maxRunSteps: 8, runGraceMs: 30_000, ...limits },
    calls,
    remotes: {
      find: (userId, name) =>
        userId === 'ada' ? remotes.find(({ remotename }) => remotename === name) : undefined,
    },
    events,
    elsewhere: new LocalBackplane(),
    log,
    counts: new RunCounts(),
    tracing: new Tracing(),
  });
  return {
    runs,
    events,
    calls,
    model,
    logged,
    finish: async (options, prompt) => {
      const { runId } = runs.start({ userId: 'ada', agentId: 7, instruction: 'Do it.', options, ...prompt });
      return (await events.event('run-finished', runId)).body;
    },
    [Symbol.asyncDispose]: () => runs.close(),
  };
}
