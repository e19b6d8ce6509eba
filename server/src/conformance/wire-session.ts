import { isDeepStrictEqual } from 'node:util';
import { WebSocket } from 'ws';
import type { JsonObject } from '../json/json-values.js';
import { expectThat, memberOf, textOf } from './expectations.js';
import { Inbox, PATIENCE_MS, readFrame, type Close, type Frame } from './inbox.js';
import { RuleFailure } from './rule.js';

/** How a connection is opened. */
export interface OpenOptions {
  /** Offers remotes.v1. @default false */
  readonly v1?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether pings of the hub are answered. @default true */
  readonly answersPings?: boolean;
}

/** A function as a rule serves it: a name, or a whole spec. */
export type ServedSpec = string | JsonObject;

/** A client that speaks the wire by hand: it sends what a rule says and keeps all that comes. */
export class WireSession {
  readonly inbox = new Inbox();
  #nonces = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer, isBinary) => this.inbox.add(readFrame(data.toString(), isBinary)));
    socket.on('close', (code, reason) => this.inbox.end({ code, reason: String(reason) }));
    socket.on('error', () => undefined); // a close follows, and says more
  }

  /** Opens a connection. @throws {RuleFailure} the hub does not accept it */
  static async open(url: string, options: OpenOptions = {}): Promise<WireSession> {
    const { v1 = false, headers = {}, answersPings = true } = options;
    const socket = new WebSocket(url, v1 ? ['remotes.v1'] : [], {
      headers,
      autoPong: answersPings,
      perMessageDeflate: false,
      handshakeTimeout: PATIENCE_MS,
    });
    const session = new WireSession(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', (error) => reject(new RuleFailure('a WebSocket connection', error.message)));
    });
    return session;
  }

  /** Sends a message, or a text as it is. */
  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** A nonce that this session has not used. */
  newNonce(): string {
    this.#nonces += 1;
    return `n${this.#nonces}`;
  }

  /** Sends a request and gives its nonce. */
  start(action: string, body?: unknown): string {
    const nonce = this.newNonce();
    this.send({ action, nonce, ...(body !== undefined && { body }) });
    return nonce;
  }

  /** Sends a request and takes its reply. */
  async request(action: string, body?: unknown, patienceMs?: number): Promise<JsonObject> {
    return this.reply(this.start(action, body), patienceMs);
  }

  /** Takes the reply with this nonce. */
  async reply(nonce: unknown, patienceMs?: number): Promise<JsonObject> {
    const fits = ({ message }: Frame): boolean =>
      !('action' in message) && 'nonce' in message && isDeepStrictEqual(message['nonce'], nonce);
    return (await this.inbox.take(fits, `a reply with the nonce ${JSON.stringify(nonce)}`, patienceMs))
      .message;
  }

  /** Takes the next message without an action, whatever its nonce. */
  async nextReply(what = 'a reply'): Promise<Frame> {
    return this.inbox.take(({ message }) => !('action' in message), what);
  }

  /** Takes the next message with this action whose `body` has this member; without one, any. */
  async next(action: string, member?: readonly [name: string, value: unknown]): Promise<JsonObject> {
    const fits = ({ message }: Frame): boolean =>
      message['action'] === action &&
      (member === undefined || memberOf(message, 'body', member[0]) === member[1]);
    const about = member === undefined ? '' : ` about ${JSON.stringify(member[1])}`;
    return (await this.inbox.take(fits, `the message ${action}${about}`)).message;
  }

  /** Serves functions; a name stands for a function that takes any object. @throws {RuleFailure} it is refused */
  async serve(remotename: string, functions: readonly ServedSpec[]): Promise<JsonObject> {
    const reply = await this.tryServe(remotename, functions);
    expectThat(
      !('error' in reply),
      `the remote ${JSON.stringify(remotename)} to be connected (remote-connect)`,
      reply,
    );
    return reply;
  }

  /** Asks for a remote, and gives the reply whatever it is. */
  async tryServe(remotename: string, functions: readonly ServedSpec[]): Promise<JsonObject> {
    const tools = functions.map((spec) => (typeof spec === 'string' ? { name: spec } : spec));
    return this.request('remote-connect', { remotename, tools });
  }

  /** Sends a call and gives its nonce. */
  startCall(remotename: string, functionName: string, args?: unknown, more: object = {}): string {
    return this.start('remote-call', { remotename, function: functionName, args, ...more });
  }

  /** Calls and takes the reply. */
  async call(
    remotename: string,
    functionName: string,
    args?: unknown,
    more: object = {},
  ): Promise<JsonObject> {
    return this.reply(this.startCall(remotename, functionName, args, more));
  }

  /** Takes the next forwarded call and gives its request id. */
  async forwarded(): Promise<string> {
    return textOf(await this.next('remote-call'), 'requestId');
  }

  /** Answers a forwarded call. */
  answer(requestId: unknown, fields: object): void {
    this.send({ action: 'remote-call-result', requestId, ...fields });
  }

  /** The reply to a ping proves that the hub has handled all that this session sent before. */
  async settle(): Promise<void> {
    const reply = await this.request('ping');
    expectThat(reply['message'] === 'pong', 'a session that goes on (ping answered with pong)', reply);
  }

  /** How the connection ends, by whoever ends it. */
  async closed(what = 'the end of the connection', patienceMs?: number): Promise<Close> {
    return this.inbox.closed(what, patienceMs);
  }

  /** Closes with a handshake. */
  async close(): Promise<void> {
    this.socket.close(1000);
    await this.closed();
  }
}
