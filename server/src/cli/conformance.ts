import type { Command } from 'commander';
import type { RuleOutcome } from '../conformance/report.js';
import type { Rule } from '../conformance/rule.js';
import type { CommandContext } from './command-context.js';
import { CommandError, exitCodes, usageError } from './exit-codes.js';
import { hubEndpoint, withConnectionOptions, type ConnectionOptions } from './hub-connection.js';
import { Interruption } from './interruption.js';

interface ConformanceOptions extends ConnectionOptions {
  readonly token?: string;
  readonly otherToken?: string;
  readonly agent?: string;
  readonly client?: boolean;
  readonly only?: string;
  readonly slow?: boolean;
  readonly list?: boolean;
  readonly json?: boolean;
}

/** What is judged: rules, and the run over those that are wanted. */
interface Subject {
  readonly mode: 'hub' | 'client';
  readonly rules: readonly Rule<never>[];
  run(options: {
    readonly only: ReadonlySet<string> | undefined;
    readonly signal: AbortSignal;
    readonly onOutcome: (outcome: RuleOutcome) => void;
  }): Promise<readonly RuleOutcome[]>;
}

/** `remotes-hub conformance`: judges a hub, or a client, rule by rule. */
export function addConformanceCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('conformance')
    .description('judge a hub, or with --client a client, by the rules of the wire')
    .argument('[command...]', 'with --client: the command that starts the client, after --')
    .option('--client', 'judge a client: this command plays the hub');
  withConnectionOptions(command)
    .option('--token <token>', 'whom to log in as (default: REMOTES_HUB_TOKEN)')
    .option('--other-token <token>', 'a token of another user, for the rules about two')
    .option('--agent <id>', 'an agent that may be prompted, for the rules about runs')
    .option('--slow', 'check rules that wait for timers of up to 30 s too')
    .option('--only <ids>', 'check these rules alone: ids, separated by commas')
    .option('--list', 'print the rules and check nothing')
    .option('--json', 'print the report as one line of JSON')
    .action((words: readonly string[], options: ConformanceOptions) => judge(words, options, context));
}

async function judge(
  words: readonly string[],
  options: ConformanceOptions,
  context: CommandContext,
): Promise<void> {
  const { output, exitNow } = context;
  const subject = await (options.client === true
    ? clientSubject(words, options, context)
    : hubSubject(words, options, context));
  const only = wantedIds(options.only, subject.rules);
  if (options.list === true) return list(subject, options, context);
  const { outcomeLines, totalsLine, totalsOf } = await import('../conformance/report.js');
  using interruption = new Interruption(exitNow);
  const isJson = options.json === true;
  const print = (outcome: RuleOutcome): void => {
    if (!isJson) for (const line of outcomeLines(outcome)) output.line(line);
  };
  const rules = await subject.run({ only, signal: interruption.signal, onOutcome: print });
  const totals = totalsOf(rules);
  if (isJson) output.json({ mode: subject.mode, ...totals, rules });
  else output.line(totalsLine(rules));
  if (interruption.signal.aborted) throw new CommandError(exitCodes.failed, 'it was interrupted');
  if (totals.failed > 0) throw new CommandError(exitCodes.failed, '');
}

function list({ mode, rules }: Subject, { json }: ConformanceOptions, { output }: CommandContext): void {
  const listed = rules.map(({ id, title, where }) => ({ id, title, where }));
  if (json === true) return output.json({ mode, rules: listed });
  for (const { id, title } of listed) output.line(`${id.padEnd(10)}  ${title}`);
}

async function hubSubject(
  words: readonly string[],
  options: ConformanceOptions,
  { env }: CommandContext,
): Promise<Subject> {
  const { otherToken, agent, slow: includeSlow = false } = options;
  if (words.length > 0) throw usageError('a command is started with --client only');
  const url = hubEndpoint(options, env);
  const token = options.token ?? env['REMOTES_HUB_TOKEN'] ?? '';
  if (token === '' && options.list !== true)
    throw usageError('who logs in? give --token, or set REMOTES_HUB_TOKEN');
  const [{ hubRules }, { HubUnderTest }, { runRules }] = await Promise.all([
    import('../conformance/hub-rules/index.js'),
    import('../conformance/hub-under-test.js'),
    import('../conformance/runner.js'),
  ]);
  const target = {
    url,
    token,
    includeSlow,
    ...(otherToken !== undefined && { otherToken }),
    ...(agent !== undefined && { agent }),
  };
  const open = (): InstanceType<typeof HubUnderTest> => new HubUnderTest(target);
  return {
    mode: 'hub',
    rules: hubRules,
    run: async ({ only, ...more }) => {
      await using hub = open();
      await hub.open().catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        throw new CommandError(exitCodes.unreachable, `cannot connect to ${url}: ${why}`);
      });
      return runRules({ rules: hubRules, open, includeSlow, ...(only && { only }), ...more });
    },
  };
}

async function clientSubject(
  words: readonly string[],
  { slow: includeSlow = false, list: isList, ...options }: ConformanceOptions,
  { env }: CommandContext,
): Promise<Subject> {
  const [command, ...args] = words;
  if (command === undefined && isList !== true) {
    throw usageError('which client? give the command that starts it after --');
  }
  if (options.url !== undefined || options.token !== undefined) {
    throw usageError('--url and --token are for a hub; a client is told where its hub is by its environment');
  }
  const [{ clientRules }, { ClientUnderTest }, { clientCommand }, { runRules }] = await Promise.all([
    import('../conformance/client-rules/index.js'),
    import('../conformance/client-under-test.js'),
    import('../conformance/client-process.js'),
    import('../conformance/runner.js'),
  ]);
  const start = clientCommand(command ?? '', args, env);
  return {
    mode: 'client',
    rules: clientRules,
    run: ({ only, ...more }) =>
      runRules({
        rules: clientRules,
        open: () => new ClientUnderTest(start),
        includeSlow,
        ...(only && { only }),
        ...more,
      }),
  };
}

function wantedIds(text: string | undefined, rules: readonly Rule<never>[]): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined;
  const wanted = text.split(',').map((id) => id.trim());
  const unknown = wanted.filter((wantedId) => !rules.some(({ id }) => id === wantedId));
  if (unknown.length > 0) throw usageError(`no such rule: ${unknown.join(', ')}; --list shows them`);
  return new Set(wanted);
}
