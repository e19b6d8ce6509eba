import type { FunctionSpec, LintReport, LintVerdict, LintedFunction } from '@remotes-hub/protocol';
import type { CompiledSchema } from '../../json-schema/schema.js';
import { modelTool, type ConnectedRemote } from '../run-tools.js';
import { MAX_DESCRIPTION_LENGTH, MAX_PROVIDER_TOOLS, withRule } from './compiled-tools.js';
import { ToolNames } from './tool-names.js';
import { projectParameters } from './tool-schemas.js';

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
 * runs says what it would do. The verdicts are alike for all providers, since the compiler keeps to the strictest.
 */
export function lintRemote({ remotename, functions }: LintableRemote, prefix: string): LintReport {
  const names = new ToolNames([...functions.keys()].map((name) => prefix + name));
  const linted = [...functions.values()].map((served): LintedFunction => {
    const verdict = verdictOf(served.spec, prefix, names);
    return {
      name: served.spec.name,
      providers: { 'openai-compatible': verdict, anthropic: verdict },
      hints: hintsOf(served),
    };
  });
  return { remotename, functions: linted, hints: remoteHints(linted) };
}

function verdictOf(spec: FunctionSpec, prefix: string, names: ToolNames): LintVerdict {
  const tool = modelTool({ name: prefix + spec.name, spec });
  const projection = projectParameters(tool.parameters.parse());
  if ('refused' in projection) return { status: 'refused', reason: projection.refused };
  const changes = projection.changes.slice(0, MAX_CHANGES);
  if (withRule(tool.description, projection.rule).length > MAX_DESCRIPTION_LENGTH) {
    changes.push(`the description was cut to ${MAX_DESCRIPTION_LENGTH} characters`);
  }
  const name = names.toProvider(tool.name);
  const isMapped = name !== tool.name;
  return {
    status: changes.length > 0 ? 'projected' : isMapped ? 'mapped' : 'ok',
    ...(isMapped && { name }),
    ...(changes.length > 0 && { changes }),
  };
}

function hintsOf({ spec, parameters }: LintableFunction): string[] {
  const hints: string[] = [];
  if ((spec.description ?? '').trim() === '') hints.push('it has no description: models choose by it');
  for (const path of parameters?.unenforcedPatterns ?? []) {
    hints.push(`parameters${path}: this pattern needs backtracking and is not enforced`);
  }
  return hints;
}

function remoteHints(linted: readonly LintedFunction[]): string[] {
  const usable = linted.filter(({ providers }) => providers.anthropic.status !== 'refused').length;
  if (usable <= MAX_PROVIDER_TOOLS) return [];
  return [
    `${usable} functions are more than the ${MAX_PROVIDER_TOOLS} tools of one request: ` +
      'models reach the rest through list_functions and call_function',
  ];
}
