import { isDeepStrictEqual } from 'node:util';
import type { IncomingHttpHeaders } from 'node:http';
import type { WebSocket } from 'ws';
import type { JsonObject } from '../json/json-values.js';
import { expectThat, memberOf } from './expectations.js';
import { Inbox, readFrame, type Close, type Frame } from './inbox.js';

/** The remote that every client under test serves. */
export const REMOTE = 'conformance';
/** The second one: its name reads like a request id of the first. */
export const ODD_REMOTE = 'conformance#1';

/** How the hub answers a request of the client; `undefined` leaves it to the rule. */
export type Answer = (request: JsonObject) => object | undefined;

/** How the hub is played. */
export interface PlayOptions {
  /** What the login reply says. @default 4 MiB */
  readonly maxMessageBytes?: number;
  /** Answers in place of those of a well-behaved hub, by action. */
  readonly answers?: ReadonlyMap<string, Answer>;
}

/** The hub's side of one connection of a client: it answers as a hub does, and a rule sends the rest. */
export class PlayedConnection {
  readonly inbox = new Inbox();
  readonly #answers: ReadonlyMap<string, Answer>;
  readonly #sequences = new Map<string, number>();

  constructor(
    readonly socket: WebSocket,
    /** The headers of the upgrade. */
    readonly headers: IncomingHttpHeaders,
    /** The path and query of the upgrade. */
    readonly path: string,
    { maxMessageBytes = 4 * 1024 * 1024, answers = new Map() }: PlayOptions,
  ) {
    this.#answers = new Map([...standardAnswers(maxMessageBytes), ...answers]);
    socket.on('message', (data: Buffer, isBinary) => this.#received(readFrame(data.toString(), isBinary)));
    socket.on('close', (code, reason) => this.inbox.end({ code, reason: String(reason) }));
    socket.on('error', () => undefined); // a close follows
    if (headers.authorization !== undefined) this.#opened();
  }

  /** Whether the client has offered remotes.v1, which was then selected. */
  get isV1(): boolean {
    return this.socket.protocol === 'remotes.v1';
  }

  /** Sends a message, or a text as it is. */
  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Takes the next message of the client with this action. */
  async next(action: string, patienceMs?: number): Promise<JsonObject> {
    const fits = ({ message }: Frame): boolean => message['action'] === action;
    return (await this.inbox.take(fits, `the message ${action} of the client`, patienceMs)).message;
  }

  /** Waits until the client has connected a remote of this name. */
  async connected(remotename: string, patienceMs?: number): Promise<JsonObject> {
    const fits = ({ message }: Frame): boolean =>
      message['action'] === 'remote-connect' && memberOf(message, 'body', 'remotename') === remotename;
    const what = `remote-connect of the remote '${remotename}'`;
    return (await this.inbox.take(fits, what, patienceMs)).message;
  }

  /** The next request id for a remote. */
  newRequestId(remotename = REMOTE): string {
    const sequence = this.#sequences.get(remotename) ?? 0;
    this.#sequences.set(remotename, sequence + 1);
    return `${remotename}#${sequence}`;
  }

  /** Forwards a call. */
  forward(requestId: string, functionName: string, args: object = {}, more: object = {}): void {
    const time = this.isV1 ? { timeoutMs: 30_000 } : {};
    this.send({ action: 'remote-call', requestId, function: functionName, args, ...time, ...more });
  }

  /** Forwards a call with the next request id, and gives that. */
  start(functionName: string, args: object = {}, remotename = REMOTE): string {
    const requestId = this.newRequestId(remotename);
    this.forward(requestId, functionName, args);
    return requestId;
  }

  /** Takes the answer to a forwarded call. */
  async answer(requestId: string, patienceMs?: number): Promise<JsonObject> {
    const fits = ({ message }: Frame): boolean => isAnswer(message) && message['requestId'] === requestId;
    const what = `remote-call-result with the requestId ${JSON.stringify(requestId)}`;
    return (await this.inbox.take(fits, what, patienceMs)).message;
  }

  /** Calls a function and gives its result; an absent one is `null`. */
  async run(functionName: string, args: object = {}, remotename = REMOTE): Promise<unknown> {
    const answer = await this.answer(this.start(functionName, args, remotename));
    const isResult = answer['error'] === undefined || answer['error'] === null;
    expectThat(isResult, `a result of ${functionName}, no error`, answer);
    return answer['result'] ?? null;
  }

  /** An answer proves that the client has handled all that was sent to it before. */
  async settle(): Promise<void> {
    const value = await this.run('echo', { value: 'still there' });
    expectThat(isDeepStrictEqual(value, 'still there'), 'a client that goes on (an echo)', value);
  }

  /** Answers that came and were not taken. */
  untakenAnswers(): readonly string[] {
    return this.inbox.untaken(({ message }) => isAnswer(message)).map(({ text }) => text);
  }

  /** How the connection ends, by whoever ends it. */
  async closed(patienceMs?: number): Promise<Close> {
    return this.inbox.closed('the end of the connection', patienceMs);
  }

  #received(frame: Frame): void {
    const { message } = frame;
    const answer = this.#answers.get(String(message['action']))?.(message);
    if (answer !== undefined) {
      this.send({ ...answer, ...('nonce' in message && { nonce: message['nonce'] }) });
      if (memberOf(answer, 'message') === 'authenticated') this.#opened();
    }
    this.inbox.add(frame);
  }

  #opened(): void {
    this.send({ action: 'session-opened', body: { sessionId: 's1' } });
  }
}

function isAnswer({ action }: JsonObject): boolean {
  return action === 'remote-call-result';
}

function standardAnswers(maxMessageBytes: number): Map<string, Answer> {
  const named = (message: string, request: JsonObject): object => ({
    message,
    remotename: memberOf(request, 'body', 'remotename'),
  });
  return new Map<string, Answer>([
    [
      'authenticate',
      () => ({ message: 'authenticated', userId: 'conformance', sessionId: 's1', maxMessageBytes }),
    ],
    ['ping', () => ({ message: 'pong' })],
    ['remote-connect', (request) => named('remote connected', request)],
    ['remote-disconnect', (request) => named('remote disconnected', request)],
    ['remote-list', () => ({ remotes: [] })],
    ['agent-list', () => ({ agents: [] })],
    ['remote-call-cancel', () => ({ message: 'remote calls cancelled', cancelled: 0 })],
  ]);
}
