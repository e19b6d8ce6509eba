import { listNames } from '../name-list.js';
import type { Model, ModelMessage, ModelPart, ModelRequest, ModelTool, ToolResult } from './model.js';
import { chooseTools, profileTool, type ToolProfile } from './offline/choose-tools.js';
import { fillArguments, type FilledArguments } from './offline/fill-arguments.js';
import { tokenize } from './offline/tokens.js';

/** Longest result that an answer quotes, in characters. */
const MAX_QUOTED = 2_000;
/** Longest list of tools that an answer names, in characters. */
const MAX_NAMES_LENGTH = 1_000;

const INTRODUCTION = 'I am not a language model; I only match words.';

/** A tool that the instruction asks for, with its arguments. */
interface PlannedCall extends FilledArguments {
  readonly name: string;
}

/**
 * The model that needs no key and no network: it chooses tools by the words of the instruction, fills their
 * arguments from it, and answers with what they returned. It understands nothing, and says so. The same
 * instruction and tools give the same calls. It takes at most two steps: it calls what it chose, all at once,
 * and after the results it calls nothing more, so it never comes to a step limit. A test that needs a model
 * which loops gives the runs a model factory of its own.
 */
export class OfflineModel implements Model {
  readonly #profiles = new WeakMap<ModelTool, ToolProfile>();

  /** @param now milliseconds since 1970: what `today` is */
  constructor(private readonly now: () => number = () => Date.now()) {}

  async *stream({ messages, tools }: ModelRequest): AsyncIterable<ModelPart> {
    const planned = this.#plan(lastInstruction(messages), tools);
    const results = lastResults(messages);
    const ready = planned.filter(({ missing }) => missing.length === 0);
    if (results !== undefined || ready.length === 0) {
      for (const line of answer(planned, results ?? [], tools)) yield { type: 'text', text: line };
      yield { type: 'finish', reason: 'stop' };
      return;
    }
    for (const [index, { name, args }] of ready.entries()) {
      yield { type: 'tool-call', callId: `call-${messages.length}-${index}`, name, args: args.text };
    }
    yield { type: 'finish', reason: 'tool-calls' };
  }

  #plan(instruction: string, tools: readonly ModelTool[]): PlannedCall[] {
    const tokens = tokenize(instruction);
    const now = new Date(this.now());
    const planned = new Map<string, PlannedCall>();
    for (const choice of chooseTools(
      tokens,
      tools.map((tool) => this.#profile(tool)),
    )) {
      const { name } = choice.profile.tool;
      const filled = fillArguments(choice, tokens, now);
      planned.set(JSON.stringify([name, filled.args.text]), { name, ...filled });
    }
    return [...planned.values()];
  }

  #profile(tool: ModelTool): ToolProfile {
    let profile = this.#profiles.get(tool);
    if (profile === undefined) this.#profiles.set(tool, (profile = profileTool(tool)));
    return profile;
  }
}

function lastInstruction(messages: readonly ModelMessage[]): string {
  const message = messages.findLast(({ role }) => role === 'user');
  return message?.role === 'user' ? message.text : '';
}

/** The results of this instruction, or `undefined` when nothing has been called for it. */
function lastResults(messages: readonly ModelMessage[]): readonly ToolResult[] | undefined {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.results : undefined;
}

/** The lines of an answer, each with its line end but the last. */
function answer(
  planned: readonly PlannedCall[],
  results: readonly ToolResult[],
  tools: readonly ModelTool[],
): string[] {
  const lines = [INTRODUCTION, ...results.map(describeResult)];
  for (const { name, missing } of planned) {
    if (missing.length > 0) {
      const names = missing.map((parameter) => `'${parameter}'`).join(', ');
      lines.push(`I did not call ${name}: I found nothing for ${names} in the instruction.`);
    }
  }
  if (planned.length === 0 && results.length === 0) lines.push(describeTools(tools));
  return lines.map((line, index) => (index < lines.length - 1 ? `${line}\n` : line));
}

function describeResult({ name, content, isError }: ToolResult): string {
  if (isError) return `${name} failed: ${quote(content.replace(/^error: /u, ''))}`;
  return `${name} answered: ${quote(content)}`;
}

function quote(text: string): string {
  return text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED)}…`;
}

function describeTools(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return 'I have no tools.';
  const names = listNames(
    tools.map(({ name }) => name),
    MAX_NAMES_LENGTH,
  );
  return `None of my tools fits the words of this instruction. Tools: ${names}.`;
}
