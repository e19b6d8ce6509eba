import {
  remoteCallCancelSchema,
  remoteCallProgressSchema,
  remoteCallResultSchema,
  remoteCallSchema,
  remoteConnectSchema,
  remoteDisconnectSchema,
  remoteListSchema,
  type RemoteCall,
  type RemoteConnect,
} from '@remotes-hub/protocol';
import type { CallListener, CallRequest } from '../calls/call-request.js';
import type { CallerCalls } from '../calls/caller-calls.js';
import type { Calls } from '../calls/calls.js';
import type { InstanceRelay } from '../cluster/instance-relay.js';
import type { ListedRemote, RemoteDirectory } from '../cluster/remote-directory.js';
import { JsonText, writeJson, type JsonFields } from '../json/json-text.js';
import type { WrittenMessage } from '../json/written-message.js';
import type { Logger } from '../observability/logger.js';
import { RemoteError } from '../remotes/remote-error.js';
import {
  compileFunctions,
  type ServedFunctionLimits,
  type ServedFunctions,
} from '../remotes/served-functions.js';
import type { SessionProviders } from '../remotes/session-providers.js';
import type { ActionRequest } from '../sessions/action-request.js';
import { defineAction, type Action, type ActionReply } from '../sessions/define-action.js';
import type { PerSession } from '../sessions/per-session.js';
import type { Session } from '../sessions/session.js';
import { whenThere, type Soon } from '../soon.js';
import { recogniseCall, recogniseProgress, recogniseResult } from './hot-messages.js';

/** What the actions on remotes work with. */
export interface RemoteActionParts {
  readonly directory: RemoteDirectory;
  readonly instances: InstanceRelay;
  readonly calls: Calls;
  readonly providers: SessionProviders;
  readonly callers: PerSession<CallerCalls>;
  readonly limits: RemoteActionLimits;
  readonly log: Logger;
  /** Counts a message that is dropped without an answer. */
  readonly ignore: () => void;
}

/** Bounds of what a session may serve. */
export interface RemoteActionLimits extends ServedFunctionLimits {
  readonly maxToolsBytes: number;
  readonly maxFunctionsPerRemote: number;
}

const NO_INSTANCE = 'resumeMs has no effect: this session gave no instanceId';
const NO_ARGUMENTS = new JsonText('{}');
const NO_TOOLS = new JsonText('[]');

/** `remote-connect`, `-disconnect`, `-list`, `-call`, `-call-cancel`, `-call-result`, `-call-progress`. */
export function remoteActions(parts: RemoteActionParts): Action[] {
  return [...servingActions(parts), ...callingActions(parts)];
}

function servingActions(parts: RemoteActionParts): Action[] {
  const { directory, providers, instances, ignore } = parts;
  return [
    defineAction(remoteConnectSchema, (request, { session }, message) => {
      const { remotename, resumeMs = 0 } = request.body;
      const tools = toolsText(request, message, parts.limits);
      const { functions, warnings } = compileFunctions(request.body.tools, parts.limits);
      logWarnings(parts.log, session, remotename, warnings);
      const { userId, instanceKey } = session;
      const description = { userId, remotename, instanceKey, tools, functions, resumeMs };
      const provider = providers.of(session);
      const connected = directory.inOrderAmongWaiting(provider, () =>
        directory.connect(description, provider, () => session.isOpen),
      );
      const isInVain = resumeMs > 0 && session.instanceKey === undefined;
      const told = isInVain ? [...warnings, NO_INSTANCE] : warnings;
      const reply = connectedReply(remotename, session.speaksV1 ? told : []);
      if (!(connected instanceof Promise)) return reply;
      return connected.then(async (connection) => {
        // the session may have ended while the name was decided on
        if (!session.isOpen) await directory.disconnectConnection(connection);
        return reply;
      });
    }),
    defineAction(remoteDisconnectSchema, ({ body: { remotename, drain } }, { session }) =>
      directory.changeInOrder(providers.find(session), () =>
        whenThere(directory.disconnect(session.userId, remotename, drain ?? false), () => ({
          message: 'remote disconnected',
          remotename,
        })),
      ),
    ),
    defineAction(remoteListSchema, (_message, { session }) =>
      inOrder(parts, session, () =>
        whenThere(directory.list(session.userId), (remotes) => ({ remotes: listText(remotes) })),
      ),
    ),
    defineAction(
      remoteCallResultSchema,
      (answer, { session }, message) => {
        if (!providers.find(session)?.answer(answer, message) && !instances.passOn(session, message))
          ignore();
        return undefined;
      },
      recogniseResult,
    ),
    defineAction(
      remoteCallProgressSchema,
      (progress, { session }, message) => {
        if (!providers.find(session)?.progress(progress, message) && !instances.passOn(session, message))
          ignore();
        return undefined;
      },
      recogniseProgress,
    ),
  ];
}

function callingActions(parts: RemoteActionParts): Action[] {
  const { directory, calls, callers } = parts;
  return [
    defineAction(
      remoteCallSchema,
      ({ body }, request, message) => {
        const { session, nonce } = request;
        const caller = callers.of(session);
        caller.requireRoom();
        const call = callOf(body, request, message);
        const start = (): undefined => caller.track(calls.start(call), nonce, listenerOf(request));
        return directory.isClaiming ? inOrder(parts, session, start) : start();
      },
      recogniseCall,
    ),
    defineAction(remoteCallCancelSchema, async (_request, { session }, message) => {
      const nonce = message.bodyMember('nonce');
      const cancelled = nonce === undefined ? 0 : await callers.find(session)?.cancel(nonce);
      return { message: 'remote calls cancelled', cancelled: cancelled ?? 0 };
    }),
  ];
}

/** What a session asks for after a `remote-connect` waits until that one's name is decided on. */
function inOrder<T extends ActionReply>(
  { directory, providers }: RemoteActionParts,
  session: Session,
  task: () => Soon<T>,
): Soon<T> {
  return directory.inOrder(providers.find(session), task);
}

/** The call that a session asks for. */
function callOf(body: RemoteCall['body'], request: ActionRequest, message: WrittenMessage): CallRequest {
  const { args: parsedArgs } = body; // there only when it was read by its schema
  return {
    userId: request.session.userId,
    remotename: body.remotename,
    functionName: body.function,
    args: message.bodyMember('args') ?? NO_ARGUMENTS,
    parsedArgs,
    argsReadBy: parsedArgs === undefined ? message.argsReadBy : undefined,
    ...(body.timeoutMs !== undefined && { timeoutMs: body.timeoutMs }),
    traceparent: body.traceparent,
    tracestate: body.tracestate,
    ...progressTo(request),
  };
}

/** Replies with how a call ends. All that it keeps meanwhile is the request: of the message nothing is left then. */
function listenerOf(request: ActionRequest): CallListener {
  return {
    resolve: (result) => request.answer(result),
    reject: (error) => request.refuse(error),
  };
}

/** Progress goes to callers that speak remotes.v1 and can tell which of their calls it belongs to. */
function progressTo({ session, nonce }: ActionRequest): { onProgress?: (progress: JsonText) => void } {
  if (!session.speaksV1 || nonce === undefined) return {};
  return {
    onProgress: (progress) => session.send(writeJson({ action: 'remote-call-progress', nonce, progress })),
  };
}

/** The function specs as they were written. @throws {RemoteError} `message-too-large` */
function toolsText({ body }: RemoteConnect, message: WrittenMessage, limits: RemoteActionLimits): JsonText {
  const tools = message.bodyMember('tools') ?? NO_TOOLS;
  const bytes = Buffer.byteLength(tools.text);
  if (bytes > limits.maxToolsBytes) {
    throw new RemoteError(
      'message-too-large',
      `body.tools: ${bytes} bytes, at most ${limits.maxToolsBytes} are taken`,
    );
  }
  if (body.tools.length > limits.maxFunctionsPerRemote) {
    throw new RemoteError(
      'message-too-large',
      `body.tools: ${body.tools.length} functions, at most ${limits.maxFunctionsPerRemote} are taken`,
    );
  }
  return tools;
}

function connectedReply(remotename: string, warnings: ServedFunctions['warnings']): JsonFields {
  return { message: 'remote connected', remotename, warnings: warnings.length > 0 ? warnings : undefined };
}

function listText(remotes: Iterable<ListedRemote>): JsonText {
  const entries: string[] = [];
  for (const { remotename, tools } of remotes) entries.push(writeJson({ remotename, tools }));
  return new JsonText(`[${entries.join(',')}]`);
}

function logWarnings(log: Logger, session: Session, remotename: string, all: readonly string[]): void {
  if (all.length === 0) return;
  const { userId, id: sessionId } = session;
  const warnings = all.slice(0, 10);
  log.info({ userId, sessionId, remotename, warnings }, 'schemas not wholly enforced');
}
