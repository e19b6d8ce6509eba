import type {
  FunctionSpec,
  LintProvider,
  LintReport,
  LintVerdict,
  LintedFunction,
} from '@remotes-hub/protocol';
import type { CompiledSchema } from '../../json-schema/schema.js';
import type { ModelTool } from '../models/model.js';
import { modelTool, type ConnectedRemote } from '../run-tools.js';
import { MAX_DESCRIPTION_LENGTH, MAX_PROVIDER_TOOLS, withRule } from './compiled-tools.js';
import { RequestBudget } from './projection-budget.js';
import { toolNames, type LegalNames } from './tool-names.js';
import { toolRules } from './tool-rules.js';
import { projectTool } from './tool-schemas.js';

/** Most changes that are told of one function. */
const MAX_CHANGES = 20;

/** A connected remote, as far as it can be judged. */
interface LintableRemote extends ConnectedRemote {
  readonly functions: ReadonlyMap<string, LintableFunction>;
}

interface LintableFunction {
  readonly spec: FunctionSpec;
  readonly parameters: CompiledSchema | undefined;
}

/**
 * How the functions of a remote reach the models of each provider: the same compiler that makes the requests of
 * runs says what it would do.
 */
export function lintRemote({ remotename, functions }: LintableRemote, prefix: string): LintReport {
  const names = toolNames([...functions.keys()].map((name) => prefix + name));
  const openAi = new ProviderLint('openai-compatible', names);
  const anthropic = new ProviderLint('anthropic', names);
  const linted = [...functions.values()].map((served): LintedFunction => {
    const { spec } = served;
    const tool = modelTool({ name: prefix + spec.name, spec });
    return {
      name: spec.name,
      providers: { 'openai-compatible': openAi.judge(tool), anthropic: anthropic.judge(tool) },
      hints: hintsOf(served),
    };
  });
  return { remotename, functions: linted, hints: remoteHints(linted) };
}

/** What one provider's request would make of the tools, one after the other. */
class ProviderLint {
  readonly #budget = new RequestBudget();

  constructor(
    private readonly provider: LintProvider,
    private readonly names: LegalNames,
  ) {}

  judge(tool: ModelTool): LintVerdict {
    const projection = projectTool(tool, toolRules[this.provider], this.#budget);
    if ('refused' in projection) return { status: 'refused', reason: projection.refused };
    const changes = projection.changes.slice(0, MAX_CHANGES);
    if (withRule(tool.description, projection.rule).length > MAX_DESCRIPTION_LENGTH) {
      changes.push(`the description was cut to ${MAX_DESCRIPTION_LENGTH} characters`);
    }
    const name = this.names.toProvider(tool.name);
    const isMapped = name !== tool.name;
    return {
      status: changes.length > 0 ? 'projected' : isMapped ? 'mapped' : 'ok',
      ...(isMapped && { name }),
      ...(changes.length > 0 && { changes }),
    };
  }
}

function hintsOf({ spec, parameters }: LintableFunction): string[] {
  const hints: string[] = [];
  if ((spec.description ?? '').trim() === '') hints.push('it has no description: models choose by it');
  for (const path of parameters?.unenforcedPatterns ?? []) {
    hints.push(`parameters${path}: this pattern needs backtracking and is not enforced`);
  }
  return hints;
}

function remoteHints({ length }: readonly LintedFunction[]): string[] {
  if (length <= MAX_PROVIDER_TOOLS) return [];
  return [
    `${length} functions are more than the ${MAX_PROVIDER_TOOLS} tools of one request: ` +
      'models reach the rest through list_functions and call_function',
  ];
}
