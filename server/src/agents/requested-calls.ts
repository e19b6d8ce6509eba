import { MAX_NAME_LENGTH } from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import type { AssistantContent } from './models/model.js';
import type { ModelStep } from './model-step.js';
import { readArguments, type ReadArguments } from './tool-arguments.js';

/** Longest text of unreadable arguments that events repeat, in characters. */
const MAX_SHOWN_ARGUMENTS = 4_096;

/** One tool call that a model asked for. */
export interface RequestedCall {
  /** Unique within the run. */
  readonly callId: string;
  /** As the model wrote it; whether there is such a tool is not known yet. */
  readonly name: string;
  readonly args: ReadArguments;
  /** What events show: the arguments, or the text that is none as a JSON string. */
  readonly shownArgs: JsonText;
}

/** A step as the conversation keeps it, and the calls it asks for, in order. */
export interface ReadStep {
  readonly content: readonly AssistantContent[];
  readonly calls: readonly RequestedCall[];
}

/**
 * Turns what a model said into calls and into its message of the conversation, where every call has an id of
 * its own and arguments that are the JSON text of an object: some providers send neither and refuse to get
 * their own mistake back.
 */
export class CallReader {
  readonly #ids = new Set<string>();
  #count = 0;

  read({ parts, reason }: ModelStep): ReadStep {
    const calls: RequestedCall[] = [];
    const content = parts.map((part): AssistantContent => {
      if (part.type !== 'tool-call') return part;
      const args = readArguments(part.args, reason === 'length');
      const readable = 'arguments' in args ? args.arguments.text : undefined;
      const shownArgs = readable ?? JsonText.of(part.args.slice(0, MAX_SHOWN_ARGUMENTS));
      const name = part.name.slice(0, 2 * MAX_NAME_LENGTH); // a prefix and a name are no longer
      const call = { callId: this.#uniqueId(part.callId), name, args, shownArgs };
      calls.push(call);
      return { type: 'tool-call', callId: call.callId, name, args: readable ?? new JsonText('{}') };
    });
    return { content, calls };
  }

  #uniqueId(given: string): string {
    let id = given.length <= MAX_NAME_LENGTH ? given : '';
    while (id === '' || this.#ids.has(id)) id = `call-${(this.#count += 1)}`;
    this.#ids.add(id);
    return id;
  }
}
