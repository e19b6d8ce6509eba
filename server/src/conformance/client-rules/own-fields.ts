import { isJsonObject, type JsonObject } from '../../json/json-values.js';

const topFields = new Map<unknown, readonly string[]>([
  ['remote-call-result', ['action', 'requestId', 'result', 'error', 'executed']],
  ['remote-call-progress', ['action', 'requestId', 'progress']],
]);

const bodyFields = new Map<unknown, readonly string[]>([
  ['authenticate', ['token', 'username', 'password', 'instanceId']],
  ['remote-connect', ['remotename', 'tools', 'resumeMs']],
  ['remote-disconnect', ['remotename', 'drain']],
  ['remote-lint', ['remotename', 'prefix']],
  ['remote-call', ['remotename', 'function', 'args', 'timeoutMs']],
  ['remote-call-cancel', ['nonce']],
  ['send-agent-prompt', ['agentId', 'instruction', 'options']],
  ['run-cancel', ['runId']],
  ['run-get', ['runId']],
]);

/** The fields of a client's message that the specification does not know. */
export function unknownFields(message: JsonObject): string[] {
  const { action, body } = message;
  const top = topFields.get(action) ?? ['action', 'nonce', 'body'];
  const inBody = isJsonObject(body) ? Object.keys(body) : [];
  const known = bodyFields.get(action) ?? [];
  return [
    ...Object.keys(message).filter((name) => !top.includes(name)),
    ...inBody.filter((name) => !known.includes(name)).map((name) => `body.${name}`),
  ];
}
