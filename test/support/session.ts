import { once } from 'node:events';
import { Socket } from 'node:net';
import { WebSocket, type ClientOptions } from 'ws';
import { eventually, soon } from './eventually.js';

/** A message as it came, parsed. */
export type Message = Record<string, unknown>;

/** How a connection ended. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

const events: ReadonlySet<string> = new Set([
  'session-opened',
  'session-expiring',
  'session-closing',
  'remote-connected',
  'remote-disconnected',
  'run-started',
  'run-text',
  'run-tool-call',
  'run-tool-result',
  'run-finished',
]);

/** The parameters schema of the functions that `serve` connects. */
const anyObject = { type: 'object' };

/**
 * A plain `ws` client that speaks the wire by hand. It keeps everything that comes: replies by their nonce,
 * events, and the rest (forwarded calls, cancellations, progress, replies without a nonce), each in order.
 */
export class TestSession implements AsyncDisposable {
  readonly frames: string[] = [];
  readonly events: Message[] = [];
  readonly others: Message[] = [];
  readonly replies: Message[] = [];
  readonly closed: Promise<Closed>;
  #nonce = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.#keep(data.toString()));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** Opens a socket; with bad credentials in `options.headers` it throws what `ws` says. */
  static async open(
    url: string,
    protocols: string[] = [],
    options: ClientOptions = {},
  ): Promise<TestSession> {
    const socket = new WebSocket(url, protocols, options);
    const session = new TestSession(socket);
    await once(socket, 'open');
    return session;
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Sends a message, or a text as it is. */
  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Sends messages in one write, so that the hub reads them in one go. */
  sendTogether(...messages: (object | string)[]): void {
    const raw: unknown = Reflect.get(this.socket, '_socket');
    if (!(raw instanceof Socket)) throw new Error('the connection is not open');
    raw.cork();
    for (const message of messages) this.send(message);
    raw.uncork();
  }

  /** Sends a request and waits for its reply. */
  request(action: string, body?: unknown): Promise<Message> {
    this.#nonce += 1;
    const nonce = `t${this.#nonce}`;
    this.send({ action, nonce, ...(body !== undefined && { body }) });
    return this.reply(nonce);
  }

  /** The reply to a nonce that was sent. */
  reply(nonce: unknown): Promise<Message> {
    const key = JSON.stringify(nonce);
    const find = (): Message | undefined =>
      this.replies.find((message) => JSON.stringify(message['nonce']) === key);
    return this.#take(find, this.replies, `a reply with nonce ${key}`);
  }

  /** The next message that is neither a reply with a nonce nor an event. */
  next(action?: string): Promise<Message> {
    const find = (): Message | undefined =>
      this.others.find((message) => action === undefined || message['action'] === action);
    return this.#take(find, this.others, action ?? 'a message');
  }

  /** The next event of this name. */
  event(action: string): Promise<Message> {
    return this.#take(() => this.events.find((event) => event['action'] === action), this.events, action);
  }

  /** Serves a remote whose functions take any object. */
  serve(remotename: string, functions: readonly string[]): Promise<Message> {
    const tools = functions.map((name) => ({
      name,
      description: `the function ${name}`,
      parameters: anyObject,
    }));
    return this.request('remote-connect', { remotename, tools });
  }

  call(remotename: string, functionName: string, args?: unknown, more: object = {}): Promise<Message> {
    return this.request('remote-call', { remotename, function: functionName, args, ...more });
  }

  async remotes(): Promise<string[]> {
    const { remotes } = (await this.request('remote-list')) as { remotes: { remotename: string }[] };
    return remotes.map(({ remotename }) => remotename);
  }

  /** Answers the next forwarded call. */
  async answer(result: unknown): Promise<Message> {
    const call = await this.next('remote-call');
    this.send({ action: 'remote-call-result', requestId: call['requestId'], result });
    return call;
  }

  /** A reply to one request proves that all before it were handled. */
  async settle(): Promise<void> {
    await this.request('ping');
  }

  /** How the connection ends, by whoever ends it. */
  async end(): Promise<Closed> {
    return soon(this.closed, 'the end of the connection');
  }

  /** Closes cleanly. */
  async close(code = 1000): Promise<void> {
    if (this.isOpen) this.socket.close(code);
    await soon(this.closed, 'the end of the connection');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await soon(this.closed, 'the end of the connection');
  }

  /** A test need not wait for what it has asked for. */
  #take(find: () => Message | undefined, from: Message[], what: string): Promise<Message> {
    const taken = this.#wait(find, from, what);
    taken.catch(() => undefined);
    return taken;
  }

  async #wait(find: () => Message | undefined, from: Message[], what: string): Promise<Message> {
    await eventually(() => find() !== undefined || this.socket.readyState === WebSocket.CLOSED, what);
    const message = find();
    if (message === undefined) throw new Error(`it never came, or somebody else took it: ${what}`);
    from.splice(from.indexOf(message), 1);
    return message;
  }

  #keep(frame: string): void {
    this.frames.push(frame);
    const message = JSON.parse(frame) as Message;
    const { action } = message;
    if (typeof action === 'string' && events.has(action)) this.events.push(message);
    else if (action === undefined && 'nonce' in message) this.replies.push(message);
    else this.others.push(message);
  }
}
