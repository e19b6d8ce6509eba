import { ConfigError, type ConfigProblem } from '../config/config-error.js';
import { isBuiltInTool, type AgentConfig } from '../config/config-schema.js';
import type { Logger } from '../observability/logger.js';
import type { NativeToolLimits } from './native-definition.js';
import { NativeModuleError, loadNativeModule, type NativeModule } from './native-modules.js';
import type { NativeTool } from './native-tool.js';

/** The native tools of one agent. */
export interface AgentTools {
  /** Names of those it has, in the order of its configuration. */
  readonly agentTools: readonly string[];
  /** Those that its prompts may name: its own, and every one that the hub brings along. */
  readonly nativeTools: ReadonlyMap<string, NativeTool>;
}

/** What native tools are made of. */
export interface NativeToolSetsOptions {
  readonly agents: readonly AgentConfig[];
  /** Those that the hub brings along, by name. */
  readonly builtIn: ReadonlyMap<string, NativeTool>;
  readonly limits: NativeToolLimits;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * The native tools of every agent. Modules are loaded when they are first needed, each once; one that could not be
 * loaded is tried again when it is needed again.
 */
export class NativeToolSets {
  readonly #sets = new Map<string, Promise<AgentTools>>();
  readonly #modules = new Map<string, Promise<NativeModule>>();
  /** Names of the agents whose tools are loaded. */
  readonly #names = new Map<string, readonly string[]>();

  constructor(private readonly options: NativeToolSetsOptions) {}

  /**
   * The tools of one agent; no agent has those of another's modules.
   * @throws {ConfigError} naming every module of the agent that cannot be used
   */
  async of(agent: AgentConfig): Promise<AgentTools> {
    const key = String(agent.id);
    return once(this.#sets, key, async () => this.#load(agent));
  }

  /** Names of an agent's tools, as far as its modules are loaded. */
  namesOf({ id, tools }: AgentConfig): readonly string[] {
    return this.#names.get(String(id)) ?? tools.filter(isBuiltInTool);
  }

  /**
   * Loads the modules of all agents.
   * @throws {ConfigError} naming every module that cannot be used
   */
  async loadAll(): Promise<void> {
    const problems: ConfigProblem[] = [];
    for (const agent of this.options.agents) {
      try {
        await this.of(agent);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        problems.push(...error.problems);
      }
    }
    if (problems.length > 0) throw new ConfigError(problems);
  }

  async #load(agent: AgentConfig): Promise<AgentTools> {
    const nativeTools = new Map(this.options.builtIn);
    const agentTools = new Set<string>();
    const problems: ConfigProblem[] = [];
    for (const [index, entry] of agent.tools.entries()) {
      if (isBuiltInTool(entry)) {
        agentTools.add(entry);
        continue;
      }
      try {
        const { tools } = await once(this.#modules, entry, async () => this.#loadModule(entry));
        for (const tool of tools) addTool(nativeTools, tool, entry);
        for (const { spec } of tools) agentTools.add(spec.name);
      } catch (error) {
        if (!(error instanceof NativeModuleError)) throw error;
        problems.push({ path: this.#pathOf(agent, index), message: error.message });
      }
    }
    if (problems.length > 0) throw new ConfigError(problems);
    this.#names.set(String(agent.id), [...agentTools]);
    return { agentTools: [...agentTools], nativeTools };
  }

  #pathOf(agent: AgentConfig, index: number): string {
    const place = this.options.agents.findIndex(({ id }) => String(id) === String(agent.id));
    return `agents[${place}].tools[${index}]`;
  }

  async #loadModule(file: string): Promise<NativeModule> {
    const module = await loadNativeModule(file, this.options.limits);
    for (const warning of module.warnings) this.options.log.warn({ file, warning }, 'native tool warning');
    return module;
  }
}

/** What is being made or has been made under a key, else makes it. A failure is not kept. */
async function once<T>(made: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = made.get(key);
  if (known !== undefined) return known;
  const making = make();
  made.set(key, making);
  try {
    return await making;
  } catch (error) {
    made.delete(key);
    throw error;
  }
}

/** A name means one tool: which of two a prompt meant would be a guess. */
function addTool(tools: Map<string, NativeTool>, tool: NativeTool, file: string): void {
  const { name } = tool.spec;
  const holder = tools.get(name);
  if (holder === tool) return; // the same module twice
  if (holder !== undefined) throw new NativeModuleError(`${file}: there is a native tool '${name}' already`);
  tools.set(name, tool);
}
