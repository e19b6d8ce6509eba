export { connect } from './connect.js';
export type { Hub, ServedRemote } from './hub.js';
export { HubError, RemoteError, type Close, type FailureCode } from './errors.js';
export type {
  CallOptions,
  ConnectOptions,
  ConnectionOptions,
  DisconnectOptions,
  LintOptions,
  ServeOptions,
} from './options.js';
export type { ConnectCredentials, TokenSource } from './credentials.js';
export type { CallContext } from './served-function.js';
export type { HubState, StateChange } from './hub-state.js';
export type { ReconnectOptions } from './reconnect.js';
export type { HubEventName, HubEvents } from './events.js';
export { defineFunctions } from './functions.js';
export type { RemoteFunction, RemoteProxy, UntypedRemote } from './remote-proxy.js';
export type { ArgumentsOf, FunctionDefinition, FunctionDefinitions, ParametersSchema } from './functions.js';
export type { PromptOptions, PromptedRun, Run, RunResult } from './runs.js';
export type { AgentDescription, RemoteDescription } from './replies.js';
export type { Socket, SocketConstructor } from './socket.js';
export type { StandardIssue, StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.js';
export type {
  AgentId,
  Credentials,
  ErrorCode,
  Executed,
  FunctionSpec,
  JsonObject,
  JsonValue,
  LintProvider,
  LintReport,
  LintStatus,
  LintVerdict,
  LintedFunction,
  RemoteSelection,
  RunEvent,
  RunFailureCode,
  RunFinishReason,
  RunStatus,
  RunTool,
  RunUsage,
  Verb,
} from '@remotes-hub/protocol';
