import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { JsonObject } from '../json/json-values.js';
import { expectThat } from './expectations.js';
import { PATIENCE_MS } from './inbox.js';
import { RuleFailure, RuleSkipped, type Rule, type RuleOptions } from './rule.js';
import { WireSession, type OpenOptions } from './wire-session.js';

/** Where a hub is, and who may log in there. */
export interface HubTarget {
  /** The WebSocket endpoint. */
  readonly url: string;
  /** A token of the user as whom the rules log in. */
  readonly token: string;
  /** A token of another user; without it the rules about two users are skipped. */
  readonly otherToken?: string;
  /** An agent that may be prompted; without it the rules about runs are skipped. */
  readonly agent?: string;
  /** Whether the rules wait for timers of the hub that take many seconds. @default false */
  readonly includeSlow?: boolean;
}

/** How a session logs in. */
export interface LoginOptions extends OpenOptions {
  /** @default that of the target */
  readonly token?: string;
  readonly instanceId?: string;
}

/** What the hub answered over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The hub as one rule sees it. What the rule has opened ends with it. */
export class HubUnderTest implements AsyncDisposable {
  readonly #sessions: WireSession[] = [];
  readonly #mark = randomBytes(4).toString('hex');
  #names = 0;

  constructor(readonly target: HubTarget) {}

  /** The token of another user. @throws {RuleSkipped} none was given */
  get otherToken(): string {
    if (this.target.otherToken === undefined) throw new RuleSkipped('only with --other-token');
    return this.target.otherToken;
  }

  /** The agent that may be prompted. @throws {RuleSkipped} none was given */
  get agent(): string {
    if (this.target.agent === undefined) throw new RuleSkipped('only with --agent');
    return this.target.agent;
  }

  /** A name for a remote that nothing else of the user has. */
  newName(): string {
    this.#names += 1;
    return `conformance-${this.#mark}-${this.#names}`;
  }

  /** An instance id that nobody has used. */
  newInstanceId(): string {
    return randomBytes(16).toString('hex');
  }

  /** Opens a connection that has not logged in, unless its headers do. @param url another than the target's */
  async open(options: OpenOptions = {}, url = this.target.url): Promise<WireSession> {
    const session = await WireSession.open(url, options);
    this.#sessions.push(session);
    return session;
  }

  /** Opens a connection and asks to log in; gives the reply, whatever it is. */
  async tryLogin(options: LoginOptions = {}): Promise<{ session: WireSession; reply: JsonObject }> {
    const { token = this.target.token, instanceId, ...open } = options;
    const session = await this.open(open);
    const reply = await session.request('authenticate', {
      token,
      ...(instanceId !== undefined && { instanceId }),
    });
    return { session, reply };
  }

  /** A session that has logged in, its own `session-opened` taken. @throws {RuleFailure} it is refused */
  async login(options: LoginOptions = {}): Promise<WireSession> {
    const { session, reply } = await this.tryLogin(options);
    expectThat(reply['message'] === 'authenticated', 'a login with the token given', reply);
    await session.next('session-opened', ['sessionId', reply['sessionId']]);
    return session;
  }

  /** Waits for a session of the user to serve a remote under a new name, and one to call it. */
  async pair(
    functions: readonly (string | JsonObject)[],
    options: { readonly server?: OpenOptions; readonly caller?: OpenOptions } = {},
  ): Promise<{ server: WireSession; caller: WireSession; name: string }> {
    const server = await this.login(options.server);
    const caller = await this.login(options.caller);
    const name = this.newName();
    await server.serve(name, functions);
    return { server, caller, name };
  }

  /** An HTTP request to the hub's host; an upgrade that is accepted is 101 and ends at once. */
  async http(
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<HttpAnswer> {
    const url = new URL(path, this.target.url.replace(/^ws/u, 'http'));
    const { method = 'GET', headers = {}, body } = options;
    return new Promise((resolve, reject) => {
      const send = url.protocol === 'https:' ? secureRequest : request;
      const sent = send(url, { method, headers, timeout: PATIENCE_MS, agent: false });
      sent.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve({ status: 101, headers: response.headers, body: '' });
      });
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      sent.on('timeout', () => sent.destroy(new Error(`nothing within ${PATIENCE_MS} ms`)));
      sent.on('error', (error) => reject(new RuleFailure(`an answer to ${method} ${path}`, error.message)));
      sent.end(body);
    });
  }

  /** Asks for an upgrade of the endpoint with these headers. @param path another than the target's */
  async upgrade(headers: Record<string, string> = {}, path = this.path): Promise<HttpAnswer> {
    return this.http(path, {
      headers: {
        Upgrade: 'websocket',
        Connection: 'Upgrade',
        'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
        'Sec-WebSocket-Version': '13',
        ...headers,
      },
    });
  }

  /** The path of the endpoint. */
  get path(): string {
    return new URL(this.target.url).pathname;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#sessions) socket.terminate();
    await Promise.all(this.#sessions.map((session) => session.closed()));
  }
}

/** Makes a rule for hubs. */
export function hubRule(
  id: string,
  where: string,
  title: string,
  check: (hub: HubUnderTest) => Promise<void>,
  options: RuleOptions = {},
): Rule<HubUnderTest> {
  return { id, where, title, check, ...options };
}
