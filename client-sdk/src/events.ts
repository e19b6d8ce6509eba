import type { RunEvent } from '@remotes-hub/protocol';
import type { Close, FailureCode } from './errors.js';
import type { StateChange } from './hub-state.js';
import { isJsonObject } from './json-values.js';

type RunEventBody<Action extends RunEvent['action']> = Extract<RunEvent, { action: Action }>['body'];

/** What the listeners of `hub.on` get, by event. All but `close` are the bodies of the hub's events. */
export interface HubEvents {
  /** A session of this user was opened, this one or another. */
  'session-opened': { sessionId: string };
  /** This session ends at `expiresAt` (milliseconds since 1970) unless `hub.authenticate` extends it. */
  'session-expiring': { sessionId: string; expiresAt: number };
  'remote-connected': { remotename: string };
  'remote-disconnected': { remotename: string };
  'run-started': RunEventBody<'run-started'>;
  'run-text': RunEventBody<'run-text'>;
  'run-tool-call': RunEventBody<'run-tool-call'>;
  'run-tool-result': RunEventBody<'run-tool-result'>;
  'run-finished': RunEventBody<'run-finished'>;
  /** The connection has changed its state. */
  state: StateChange;
  /**
   * A remote that this session served could not be served again after a reconnect: another session has taken its name
   * meanwhile (`remote-already-connected`), or the hub refused it.
   */
  'serve-failed': { remotename: string; code: FailureCode; message: string };
  /** The connection has ended for good, and with it this `Hub`. */
  close: Close;
}

/** Name of an event. */
export type HubEventName = keyof HubEvents;

const runFields = { runId: 'string', seq: 'number' };

/** The fields that every body of an event has, with their types. */
const eventFields: Readonly<Record<HubEventName, Readonly<Record<string, string>>>> = {
  'session-opened': { sessionId: 'string' },
  'session-expiring': { sessionId: 'string', expiresAt: 'number' },
  'remote-connected': { remotename: 'string' },
  'remote-disconnected': { remotename: 'string' },
  'run-started': { ...runFields, tools: 'object', warnings: 'object' },
  'run-text': { ...runFields, text: 'string' },
  'run-tool-call': { ...runFields, callId: 'string', name: 'string' },
  'run-tool-result': {
    ...runFields,
    callId: 'string',
    name: 'string',
    content: 'string',
    isError: 'boolean',
  },
  'run-finished': { ...runFields, status: 'string', output: 'string', usage: 'object' },
  // what this client tells of itself is as it should be
  state: {},
  'serve-failed': {},
  close: {},
};

/** Events that come from this client, and never from a hub. */
const ownEvents: ReadonlySet<unknown> = new Set(['state', 'serve-failed', 'close']);

/** Whether `action` is that of an event that a hub may send. */
export function isHubEvent(action: unknown): action is HubEventName {
  return isEventName(action) && !ownEvents.has(action);
}

/** Whether `name` is that of an event this client knows. */
export function isEventName(name: unknown): name is HubEventName {
  return typeof name === 'string' && Object.hasOwn(eventFields, name);
}

/** Whether `body` has what every body of this event has. */
export function isEventBody<Name extends HubEventName>(name: Name, body: unknown): body is HubEvents[Name] {
  if (!isJsonObject(body)) return false;
  return Object.entries(eventFields[name]).every(
    ([field, type]) => typeof body[field] === type && body[field] !== null,
  );
}

/** Whether a message is an event of a run. */
export function isRunEvent(message: unknown): message is RunEvent {
  if (!isJsonObject(message)) return false;
  const { action, body } = message;
  return isEventName(action) && action.startsWith('run-') && isEventBody(action, body);
}

/** Calls a listener of the user. What it throws, or rejects with, goes to the console and no further. */
export function callListener<Value>(what: string, listener: (value: Value) => unknown, value: Value): void {
  const report = (thrown: unknown): void => {
    try {
      console.error(`remotes-hub: the listener '${what}' failed:`, thrown);
    } catch {
      // what cannot even be shown
    }
  };
  try {
    const outcome = listener(value);
    if (outcome instanceof Promise) outcome.catch(report);
  } catch (thrown) {
    report(thrown);
  }
}

/** Who listens to which event. */
export class EventListeners {
  readonly #listeners = new Map<HubEventName, Set<(body: unknown) => void>>();

  /** Adds a listener; the function returned removes it. */
  on<Name extends HubEventName>(name: Name, listener: (body: HubEvents[Name]) => unknown): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    const deliver = (body: unknown): void => {
      if (isEventBody(name, body)) callListener(name, listener, body);
    };
    listeners.add(deliver);
    return () => listeners.delete(deliver);
  }

  /** Tells the listeners of an event, in the order in which they were added. */
  emit(name: HubEventName, body: unknown): void {
    // A copy: a listener may add listeners, whose turn is the next event.
    for (const deliver of Array.from(this.#listeners.get(name) ?? [])) deliver(body);
  }

  /** Removes them all. */
  clear(): void {
    this.#listeners.clear();
  }
}
