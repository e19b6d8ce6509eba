import type { JsonObject } from '../../json/json-values.js';
import { expectEqual, expectError, expectMembers, expectThat, memberOf, textOf } from '../expectations.js';
import { hubRule, type HubUnderTest } from '../hub-under-test.js';
import type { WireSession } from '../wire-session.js';

/** How long a model may take for a short answer, in milliseconds. */
const RUN_MS = 60_000;
const runOptions = { deadlineMs: RUN_MS + 10_000 };

/** Prompts the agent that was given, and gives the id of the run. */
async function prompt(hub: HubUnderTest, session: WireSession, options: object = {}): Promise<string> {
  const { agent: agentId } = hub;
  const instruction = 'Say hello in one word.';
  const reply = await session.request('send-agent-prompt', { agentId, instruction, options });
  expectMembers(reply, { message: 'prompt accepted' }, 'the reply to a prompt');
  return textOf(reply, 'runId');
}

/** Takes the events of a run to its end. */
async function eventsOf(session: WireSession, runId: string): Promise<JsonObject[]> {
  const events: JsonObject[] = [];
  for (;;) {
    const { message } = await session.inbox.take(
      (frame) => memberOf(frame.message, 'body', 'runId') === runId && 'action' in frame.message,
      `an event of the run, up to run-finished`,
      RUN_MS,
    );
    events.push(message);
    if (message['action'] === 'run-finished') return events;
  }
}

/** The body of `run-started`; the run is cancelled, its end is nobody's concern. */
async function startedBody(hub: HubUnderTest, options: object): Promise<JsonObject> {
  const session = await hub.login();
  const runId = await prompt(hub, session, options);
  const { body } = await session.next('run-started', ['runId', runId]);
  session.start('run-cancel', { runId });
  expectThat(typeof body === 'object' && body !== null, 'a body', body);
  return { ...body };
}

export const agentRules = [
  hubRule('RUN-10', 'agent-list', 'agent-list shows agents with their native tools.', async (hub) => {
    const session = await hub.login();
    const { agents } = await session.request('agent-list');
    expectThat(Array.isArray(agents), 'agents: an array', agents);
    for (const agent of agents as readonly unknown[]) {
      const agentId = memberOf(agent, 'agentId');
      expectThat(typeof agentId === 'string' || Number.isInteger(agentId), 'agentId', agent);
      expectThat(typeof memberOf(agent, 'name') === 'string', 'name: a string', agent);
      expectThat(Array.isArray(memberOf(agent, 'tools')), 'tools: an array', agent);
    }
  }),

  hubRule('RUN-01', 'send-agent-prompt', 'An unknown agent gets agent-not-found.', async (hub) => {
    const session = await hub.login();
    for (const agentId of ['conformance-nobody', 987_654_321]) {
      const reply = await session.request('send-agent-prompt', { agentId, instruction: 'hello' });
      expectError(reply, 'agent-not-found', `the agent ${agentId}`);
    }
    const empty = await session.request('send-agent-prompt', { agentId: 1, instruction: '' });
    expectError(empty, 'invalid-body', 'an empty instruction', 'body.instruction');
  }),

  hubRule('RUN-09', 'run-cancel', 'An unknown or ended run gets run-not-found.', async (hub) => {
    const session = await hub.login();
    const reply = await session.request('run-cancel', { runId: 'conformance-nothing' });
    expectError(reply, 'run-not-found', 'run-cancel of an unknown run', 'conformance-nothing');
  }),

  hubRule(
    'RUN-20',
    'remote-lint',
    'remote-lint tells what becomes of each function of a remote.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['get_forecast', 'find station']);
      const reply = await caller.request('remote-lint', { remotename: name });
      expectMembers(reply, { remotename: name }, 'the report');
      expectThat(Array.isArray(reply['functions']), 'functions: an array', reply);
      const names = (reply['functions'] as readonly unknown[]).map((linted) => memberOf(linted, 'name'));
      expectEqual(names, ['get_forecast', 'find station'], 'the names of the functions');
      const absent = await server.request('remote-lint', { remotename: hub.newName() });
      expectError(absent, 'remote-not-connected', 'a remote that is not connected');
    },
  ),

  hubRule(
    'RUN-05',
    'Life of a run',
    'Run events reach every session of the user, numbered from 0, run-finished last and once.',
    async (hub) => {
      const [session, other] = [await hub.login(), await hub.login()];
      const runId = await prompt(hub, session);
      const events = await eventsOf(session, runId);
      expectEqual(
        events.map((event) => memberOf(event, 'body', 'seq')),
        events.map((_, seq) => seq),
        'seq of the events',
      );
      expectEqual(events[0]?.['action'], 'run-started', 'the first event');
      expectEqual(await eventsOf(other, runId), events, 'the events of another session');
    },
    runOptions,
  ),

  hubRule(
    'RUN-18',
    'run-get',
    'run-get replays the events of a run; an unknown run gets run-not-found.',
    async (hub) => {
      const session = await hub.login();
      const reply = await session.request('run-get', { runId: 'conformance-nothing' });
      expectError(reply, 'run-not-found', 'run-get of an unknown run');
      if (hub.target.agent === undefined) return;
      const runId = await prompt(hub, session);
      const events = await eventsOf(session, runId);
      const late = await hub.login();
      const replay = await late.request('run-get', { runId });
      expectMembers(replay, { runId, firstSeq: 0, isFinished: true, events }, 'the replay');
    },
    runOptions,
  ),

  hubRule(
    'K061',
    'Tools of a run',
    'A remote that is not connected is skipped with one warning.',
    async (hub) => {
      const absent = hub.newName();
      const { warnings } = await startedBody(hub, { remotes: [absent] });
      expectThat(Array.isArray(warnings) && warnings.length === 1, 'one warning', warnings);
      expectThat(JSON.stringify(warnings).includes(absent), 'a warning that names the remote', warnings);
    },
  ),

  hubRule(
    'K081',
    'Tools of a run',
    'Duplicate entries of remotes collapse; malformed ones get a warning each.',
    async (hub) => {
      const { name } = await hub.pair(['conformance_function']);
      const remotes = [name, { name, prefix: 'p_' }, name, { name, prefix: 'p_' }, 7, {}];
      const { tools, warnings } = await startedBody(hub, { remotes });
      expectThat(Array.isArray(tools), 'tools: an array', tools);
      const own = (tools as readonly unknown[]).filter((tool) => memberOf(tool, 'remotename') === name);
      expectEqual(
        own.map((tool) => memberOf(tool, 'name')),
        ['conformance_function', 'p_conformance_function'],
        'the tools of the remote',
      );
      expectThat(Array.isArray(warnings) && warnings.length === 2, 'two warnings', warnings);
    },
  ),

  hubRule(
    'RUN-02',
    'send-agent-prompt',
    'options.tools replaces the toolset, and remotes are not in play.',
    async (hub) => {
      const { name } = await hub.pair(['conformance_function']);
      const { tools } = await startedBody(hub, { remotes: [name], tools: [] });
      expectEqual(tools, [], 'the tools');
    },
  ),
];
