import type { FunctionSpec, RunTool } from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import type { Soon } from '../soon.js';
import type { ModelTool } from './models/model.js';
import type { NativeTool } from './native-tool.js';
import type { SelectedRemote } from './run-options.js';
import type { RunWarnings } from './run-warnings.js';

/** Most tools of one run. */
export const MAX_RUN_TOOLS = 2_000;

/** A connected remote, as far as a run needs it. */
export interface ConnectedRemote {
  readonly remotename: string;
  readonly functions: ReadonlyMap<string, { readonly spec: FunctionSpec }>;
}

/** Where a run finds the remotes of its user. */
export interface RemoteSource {
  /** Rejects when that cannot be told. */
  find(userId: string, remotename: string): Soon<ConnectedRemote | undefined>;
}

/** A tool of one run: a native one, or a function of a remote. `name` is what the model calls it. */
export type Tool =
  | {
      readonly kind: 'native';
      readonly name: string;
      readonly spec: FunctionSpec;
      readonly native: NativeTool;
    }
  | {
      readonly kind: 'remote';
      readonly name: string;
      readonly spec: FunctionSpec;
      readonly remotename: string;
    };

/** The tools of one run by name, in the order the model sees them. */
export type ToolSet = ReadonlyMap<string, Tool>;

/** What the tools of a run are made of. */
export interface ToolSelection {
  /** The agent's native tools, by name. */
  readonly agentTools: readonly string[];
  /** Names from the prompt that replace the agent's tools; remotes are then not in play. */
  readonly tools: readonly string[] | undefined;
  readonly remotes: readonly SelectedRemote[];
  readonly nativeTools: ReadonlyMap<string, NativeTool>;
  findRemote(remotename: string): ConnectedRemote | undefined;
}

/**
 * The tools of a run, resolved once at its start. Native tools come first and the first match wins; whatever is
 * left out becomes one warning.
 */
export function selectTools(selection: ToolSelection, warnings: RunWarnings): ToolSet {
  const tools = new Map<string, Tool>();
  for (const name of selection.tools ?? selection.agentTools) {
    const native = selection.nativeTools.get(name);
    if (native === undefined) warnings.add(`there is no native tool named '${name}'; it is skipped`);
    else tools.set(name, { kind: 'native', name, spec: native.spec, native });
  }
  if (selection.tools !== undefined) return tools;
  for (const entry of selection.remotes) {
    const remote = selection.findRemote(entry.name);
    if (remote === undefined) warnings.add(`no connected remote named '${entry.name}'; it is skipped`);
    else addFunctions(tools, remote, entry.prefix, warnings);
  }
  return tools;
}

function addFunctions(
  tools: Map<string, Tool>,
  remote: ConnectedRemote,
  prefix: string,
  warnings: RunWarnings,
): void {
  const { remotename } = remote;
  for (const { spec } of remote.functions.values()) {
    const name = prefix + spec.name;
    const holder = tools.get(name);
    if (holder !== undefined) {
      warnings.add(`function '${spec.name}' of remote '${remotename}' is hidden by ${describeTool(holder)}`);
    } else if (tools.size >= MAX_RUN_TOOLS) {
      warnings.add(`remote '${remotename}': a run has at most ${MAX_RUN_TOOLS} tools, the rest is skipped`);
      return;
    } else {
      tools.set(name, { kind: 'remote', name, spec, remotename });
    }
  }
}

function describeTool(tool: Tool): string {
  if (tool.kind === 'native') return `the native tool '${tool.name}'`;
  return `'${tool.name}', a function of remote '${tool.remotename}'`;
}

/** How events name a tool. */
export function runTool(tool: Tool): RunTool {
  if (tool.kind === 'native') return { name: tool.name };
  return { name: tool.name, remotename: tool.remotename, function: tool.spec.name };
}

/** A tool as a model sees it. */
export function modelTool({ name, spec }: Pick<Tool, 'name' | 'spec'>): ModelTool {
  return { name, description: spec.description ?? '', parameters: toolParameters(spec.parameters) };
}

/** The schema as it is, with `type` and `properties` added where they are missing. */
function toolParameters(parameters: FunctionSpec['parameters']): JsonText {
  const given = parameters ?? {};
  const type = Object.hasOwn(given, 'type') ? {} : { type: 'object' };
  const properties = Object.hasOwn(given, 'properties') ? {} : { properties: {} };
  return JsonText.of({ ...type, ...given, ...properties });
}
