import { untilAborted } from './until-aborted.js';
import {
  ModelError,
  type FinishReason,
  type Model,
  type ModelPart,
  type ModelRequest,
  type ModelUsage,
} from './models/model.js';

/**
 * Most that a model may say in one step, in characters: more than any model writes, and an answer of that size
 * still fits a frame. Every part counts some more, so that empty ones are bounded too.
 */
export const MAX_STEP_CHARACTERS = 512 * 1024;
const CHARACTERS_PER_PART = 64;

/** Everything a model said in one step. */
export interface ModelStep {
  /** In the order it was said; never a `finish`. */
  readonly parts: readonly Exclude<ModelPart, { type: 'finish' }>[];
  readonly reason: FinishReason;
  /** Absent when the provider did not count. */
  readonly usage: ModelUsage | undefined;
}

/**
 * Reads one step of a model to its end.
 * @param onText told of every piece of text as it comes
 * @throws whatever the model throws; the signal's reason when it aborts; {@link ModelError}
 */
export async function readModelStep(
  model: Model,
  request: ModelRequest,
  onText: (text: string) => void,
): Promise<ModelStep> {
  const iterator = model.stream(request)[Symbol.asyncIterator]();
  const parts: Exclude<ModelPart, { type: 'finish' }>[] = [];
  let characters = 0;
  try {
    for (;;) {
      const next = await untilAborted(iterator.next(), request.signal);
      if (next.done === true) throw new ModelError('the answer of the model was cut off');
      const part = next.value;
      if (part.type === 'finish') return { parts: mergeTexts(parts), reason: part.reason, usage: part.usage };
      characters += CHARACTERS_PER_PART + sizeOf(part);
      if (characters > MAX_STEP_CHARACTERS) throw new ModelError('the answer of the model is too long');
      parts.push(part);
      if (part.type === 'text' && part.text !== '') onText(part.text);
    }
  } finally {
    void release(iterator);
  }
}

/** Lets the model tidy up. Not awaited: a model that hangs must not hold up its run. */
async function release(iterator: AsyncIterator<ModelPart>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // the step has ended, one way or the other
  }
}

function sizeOf(part: ModelPart): number {
  if (part.type === 'text') return part.text.length;
  if (part.type === 'tool-call') return part.name.length + part.callId.length + part.args.length;
  return 0;
}

/** Deltas of one text as one part. */
function mergeTexts(parts: readonly Exclude<ModelPart, { type: 'finish' }>[]): ModelStep['parts'] {
  const merged: Exclude<ModelPart, { type: 'finish' }>[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.type === 'text' && last?.type === 'text') {
      merged[merged.length - 1] = { type: 'text', text: last.text + part.text };
    } else if (part.type !== 'text' || part.text !== '') {
      merged.push(part);
    }
  }
  return merged;
}
