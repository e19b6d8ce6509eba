import type { Model, ModelTool } from './models/model.js';
import type { AgentTools } from './native-tool-sets.js';
import { unusedName } from './provider-tools/compiled-tools.js';
import { listFunctionsTool } from './provider-tools/list-functions.js';
import type { RunOptions } from './run-options.js';
import { RunStop } from './run-stop.js';
import { modelTool, selectTools, type ConnectedRemote, type Tool, type ToolSet } from './run-tools.js';
import type { RunWarnings } from './run-warnings.js';

/** What a run is prepared from. */
export interface RunPreparation extends Pick<RunOptions, 'remotes' | 'tools'> {
  /** Loads the native tools of the agent. */
  readonly nativeTools: () => Promise<AgentTools>;
  /** Remotes as they were when the prompt came. */
  readonly findRemote: (remotename: string) => ConnectedRemote | undefined;
  readonly createModel: () => Model | Promise<Model>;
  readonly warnings: RunWarnings;
}

/** What a run works with. */
export interface PreparedRun {
  readonly model: Model;
  readonly tools: ToolSet;
  /** The same as the model is sent them in every step. */
  readonly offered: readonly ModelTool[];
}

/**
 * Loads the native tools, chooses the tools of the run and makes its model; whatever is left out becomes a warning.
 * @throws {RunStop} `tools-failed`
 * @throws what making the model throws
 */
export async function prepareRun(preparation: RunPreparation): Promise<PreparedRun> {
  const natives = await loadTools(preparation);
  const { remotes, tools: named, findRemote, createModel, warnings } = preparation;
  const selected = selectTools({ ...natives, tools: named, remotes, findRemote }, warnings);
  const model = await createModel();
  const tools = withListing(selected, model);
  const offered = [...tools.values()].map(modelTool);
  for (const warning of model.prepare?.(offered) ?? []) warnings.add(warning);
  return { model, tools, offered };
}

async function loadTools({ nativeTools }: RunPreparation): Promise<AgentTools> {
  try {
    return await nativeTools();
  } catch (cause) {
    throw new RunStop('tools-failed', 'the native tools of the agent could not be loaded', { cause });
  }
}

/** More tools than the model takes at once: a tool that lists them comes first, and so is always among those it takes. */
function withListing(tools: ToolSet, { maxTools }: Model): ToolSet {
  if (maxTools === undefined || tools.size <= maxTools) return tools;
  const name = unusedName('list_functions', [...tools.keys()]);
  const native = listFunctionsTool(name, [...tools.values()].map(modelTool));
  return new Map<string, Tool>([[name, { kind: 'native', name, spec: native.spec, native }], ...tools]);
}
