import {
  MAX_CALL_TIMEOUT_MS,
  MAX_NAME_LENGTH,
  executedValues,
  type JsonObject,
  type JsonValue,
  type RemoteCall,
  type RemoteCallProgress,
  type RemoteCallResult,
} from '@remotes-hub/protocol';

/*
 * The messages of a call, recognised by hand. Their schemas stay the definition, and are asked for the words when one
 * is not recognised; a test shows that both accept the same.
 */

/** A `remote-call` that fits its schema, as that gives it. */
export function recogniseCall({ nonce, body }: JsonObject): RemoteCall | undefined {
  if (!isObject(body)) return undefined;
  const { remotename, function: functionName, args, timeoutMs } = body;
  if (!isName(remotename) || !isName(functionName)) return undefined;
  const call: RemoteCall = { action: 'remote-call', body: { remotename, function: functionName } };
  if (nonce !== undefined) call.nonce = nonce;
  if (args !== undefined) {
    if (!isObject(args)) return undefined;
    call.body.args = args;
  }
  if (timeoutMs !== undefined) {
    if (!isTimeout(timeoutMs)) return undefined;
    call.body.timeoutMs = timeoutMs;
  }
  return call;
}

/** A `remote-call-result`; any object with that action is one. */
export function recogniseResult({ requestId, result, error, executed }: JsonObject): RemoteCallResult {
  return {
    action: 'remote-call-result',
    requestId,
    result,
    error,
    executed: executedValues.find((value) => value === executed),
  };
}

/** A `remote-call-progress`; any object with that action is one. */
export function recogniseProgress({ requestId, progress }: JsonObject): RemoteCallProgress {
  return { action: 'remote-call-progress', requestId, progress };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= MAX_NAME_LENGTH;
}

function isTimeout(value: JsonValue): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CALL_TIMEOUT_MS;
}
