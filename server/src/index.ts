export { createHub } from './hub.js';
export type { Hub, HubCounts, HubOptions } from './hub-interface.js';
export type { ConnectedHostRemote, HostCall, HostRemote } from './calls/host-program.js';
export { ConfigError } from './config/config-error.js';
export type { HubConfig, HubConfigInput } from './config/config-schema.js';
export { loadConfig, type LoadedConfig } from './config/load-config.js';
export { letHeapGrow } from './heap-growth.js';
export { bufferedOutput, type BufferedOutput } from './observability/buffered-output.js';
export { createLogger, type Logger } from './observability/logger.js';
export type { ModelFactory } from './agents/models/create-model.js';
export {
  ModelError,
  type AssistantContent,
  type FinishReason,
  type Model,
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
  type ModelTool,
  type ModelUsage,
  type ToolResult,
} from './agents/models/model.js';
export type { JsonText } from './json/json-text.js';
export type { NativeToolDefinition } from './agents/native-definition.js';
export type { NativeToolOptions } from './agents/native-tool.js';
export type { HostCallContext, HostFunction } from './remotes/host-provider.js';
export { RemoteError } from './remotes/remote-error.js';
export { AuthenticationError, type AttemptOrigin, type Identity } from './authentication/authenticate.js';
export type { AuthenticateFunction } from './authentication/custom-authenticator.js';
export { hashPassword } from './passwords/passwords.js';
export type { ListeningAddress } from './transport/http-listener.js';
