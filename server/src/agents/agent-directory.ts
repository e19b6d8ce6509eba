import type { AgentId } from '@remotes-hub/protocol';
import { isBuiltInTool, type AgentConfig } from '../config/config-schema.js';

/** One agent as sessions see it; `tools` are the names of its native tools. */
export interface ListedAgent {
  readonly agentId: AgentId;
  readonly name: string;
  readonly tools: readonly string[];
}

/** The configured agents. An id is a string or an integer, and `7` and `"7"` are the same. */
export class AgentDirectory {
  readonly #agents = new Map<string, AgentConfig>();

  /**
   * @param toolNames names of an agent's native tools, never paths. @default those of the hub
   * @throws {Error} naming the id that two agents share
   */
  constructor(
    agents: readonly AgentConfig[],
    private readonly toolNames: (agent: AgentConfig) => readonly string[] = ({ tools }) =>
      tools.filter(isBuiltInTool),
  ) {
    for (const agent of agents) {
      const key = String(agent.id);
      if (this.#agents.has(key)) throw new Error(`agents: the id '${key}' is used twice`);
      this.#agents.set(key, agent);
    }
  }

  /** The agent with this id, or `undefined`. */
  find(agentId: AgentId): AgentConfig | undefined {
    return this.#agents.get(String(agentId));
  }

  /** Every agent in the order of the configuration, its id as it is written there. */
  list(): ListedAgent[] {
    return [...this.#agents.values()].map((agent) => ({
      agentId: agent.id,
      name: agent.name,
      tools: [...this.toolNames(agent)],
    }));
  }
}
