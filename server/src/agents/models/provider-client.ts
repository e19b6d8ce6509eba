import { ModelError, type ModelPart } from './model.js';
import { isConnectionFailure, statusOf, withRetries } from './provider-retries.js';

/** Puts together what a provider streams. */
export interface StreamedAnswer<Chunk> {
  read(chunk: Chunk): Iterable<ModelPart>;
  end(): Iterable<ModelPart>;
}

/** One step at a provider. */
export interface ProviderStep<Chunk> {
  readonly provider: string;
  /** Of the run. */
  readonly signal: AbortSignal;
  /** Time for the whole step, its retries included, in milliseconds. */
  readonly timeoutMs: number;
  /** Sends the request. The client must not try again by itself. */
  readonly send: (signal: AbortSignal) => Promise<AsyncIterable<Chunk>>;
  readonly answer: StreamedAnswer<Chunk>;
}

/** Sends a step's request until it is answered, and reads the answer. @throws {ModelError} */
export async function* streamStep<Chunk>({
  provider,
  signal: ofRun,
  timeoutMs,
  send,
  answer,
}: ProviderStep<Chunk>): AsyncGenerator<ModelPart, void> {
  const signal = stepSignal(ofRun, timeoutMs);
  try {
    const chunks = await withRetries(async () => send(signal), { signal, timeoutMs });
    for await (const chunk of chunks) yield* answer.read(chunk);
    signal.throwIfAborted(); // the clients just end their streams when they are aborted
    yield* answer.end();
  } catch (error) {
    throw modelErrorOf(error, provider, ofRun);
  }
}

/**
 * A provider's failure in words that anybody may read: its kind and status, never its text, an address or a key.
 * @param signal of the run: a failure after it has aborted is passed on as it is
 */
export function modelErrorOf(cause: unknown, provider: string, signal: AbortSignal): unknown {
  if (signal.aborted || cause instanceof ModelError) return cause;
  const status = statusOf(cause);
  const reason = status === undefined ? withoutStatus(cause) : `${reasonOf(status)} (${status})`;
  // without its cause: a provider's text may repeat what it was sent, the key among it
  return new ModelError(`the model provider ${provider} ${reason}`);
}

/**
 * A deadline for one step, beside the run's own signal. `AbortSignal.any` holds its sources weakly, so that Node 20
 * forgets a deadline nobody else holds at the next garbage collection: a listener keeps it, and it keeps the signal.
 * @param timeoutMs from now, in milliseconds
 */
export function stepSignal(signal: AbortSignal, timeoutMs: number): AbortSignal {
  const deadline = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, deadline]);
  deadline.addEventListener('abort', () => void either, { once: true });
  return either;
}

function reasonOf(status: number): string {
  if (status === 401 || status === 403) return 'refused the key';
  if (status === 404) return 'knows no such model or address';
  if (status === 408 || status === 504) return 'did not answer in time';
  if (status === 413) return 'found the conversation too long';
  if (status === 429) return 'has received too many requests';
  return status >= 500 ? 'is overloaded or failing' : 'refused the request';
}

function withoutStatus(error: unknown): string {
  if (isAbort(error)) return 'did not answer in time';
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'APIConnectionTimeoutError' || name === 'APIUserAbortError') return 'did not answer in time';
  if (isConnectionFailure(error)) return 'cannot be reached';
  return 'failed in the middle of its answer';
}

/** What a signal aborts with by itself; the run's own signal has its say before. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
