import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocketServer, type VerifyClientCallbackAsync } from 'ws';
import { show } from './expectations.js';
import { ODD_REMOTE, PlayedConnection, REMOTE, type PlayOptions } from './played-connection.js';
import { RuleFailure, type Rule, type RuleOptions } from './rule.js';

/** How long a client may take to start and connect, in milliseconds. */
const START_MS = 15_000;

/** A client that runs, until it is disposed of. */
export interface RunningClient extends AsyncDisposable {
  /** How it ended, in words; `undefined` while it runs. */
  readonly ending: string | undefined;
  /** The last of what it has written. */
  readonly output: string;
}

/** Starts the client under test, which is to connect to this hub. */
export type StartClient = (hub: { readonly url: string; readonly token: string }) => RunningClient;

/** How a login is refused: by the reply to `authenticate`, or with this status at the upgrade. */
export interface LoginRefusal {
  readonly reply: object;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client as one rule sees it: started for it alone, at a hub that the rule plays. */
export class ClientUnderTest implements AsyncDisposable {
  /** The token that the client is given. */
  readonly token = `conformance.${randomBytes(12).toString('hex')}`;
  /** Every connection that it has opened, in order. */
  readonly connections: PlayedConnection[] = [];
  /** How many logins were refused, see {@link refuseLogins}. */
  refusedLogins = 0;
  #server: WebSocketServer | undefined;
  #client: RunningClient | undefined;
  #taken = 0;

  constructor(private readonly startClient: StartClient) {}

  /** The last of what the client has written. */
  get output(): string {
    return this.#client?.output ?? '';
  }

  /** Listens, and starts the client. Its connections are taken with {@link nextConnection}. */
  async start(options: PlayOptions = {}, refusal?: LoginRefusal): Promise<void> {
    const server = new WebSocketServer({
      host: '127.0.0.1',
      port: 0,
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has('remotes.v1') ? 'remotes.v1' : false),
      ...(refusal !== undefined && { verifyClient: this.#verifier(refusal) }),
    });
    this.#server = server;
    server.on('connection', (socket, { headers, url = '' }) => {
      this.connections.push(new PlayedConnection(socket, headers, url, options));
    });
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
    this.#client = this.startClient({ url: `ws://127.0.0.1:${address.port}/ws`, token: this.token });
  }

  /**
   * Starts the client at a hub that refuses its logins, at the upgrade or by the reply to `authenticate`, and
   * waits for the first.
   */
  async refuseLogins(refusal: LoginRefusal): Promise<void> {
    const { reply } = refusal;
    const count = (): object => {
      this.refusedLogins += 1;
      return reply;
    };
    await this.start({ answers: new Map([['authenticate', count]]) }, refusal);
    const deadline = performance.now() + START_MS;
    while (this.refusedLogins === 0) {
      const why = this.#client?.ending ?? `none within ${START_MS} ms`;
      const isOver = this.#client?.ending !== undefined || performance.now() > deadline;
      if (isOver) throw new RuleFailure('a login of the client', why);
      await pause(10);
    }
  }

  /** Waits for the next connection of the client. @throws {RuleFailure} none comes */
  async nextConnection(patienceMs = START_MS): Promise<PlayedConnection> {
    const connection = await this.connectionWithin(patienceMs);
    if (connection !== undefined) return connection;
    throw new RuleFailure('a connection of the client', `none within ${patienceMs} ms`);
  }

  /** The next connection of the client, if one comes within this time. @throws {RuleFailure} it never starts */
  async connectionWithin(patienceMs: number): Promise<PlayedConnection | undefined> {
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      const connection = this.connections[this.#taken];
      if (connection !== undefined) {
        this.#taken += 1;
        return connection;
      }
      const ending = this.#client?.ending;
      if (ending !== undefined && this.#taken > 0) return undefined;
      if (ending !== undefined) throw new RuleFailure('a connection of the client', ending);
      await pause(10);
    }
    return undefined;
  }

  /** Starts the client and waits until it serves both its remotes. */
  async serving(options: PlayOptions = {}): Promise<PlayedConnection> {
    await this.start(options);
    return this.served(await this.nextConnection());
  }

  /** Waits until the client serves both its remotes on this connection. */
  async served(connection: PlayedConnection): Promise<PlayedConnection> {
    await connection.connected(REMOTE);
    await connection.connected(ODD_REMOTE);
    return connection;
  }

  #verifier({ status, headers, reply }: LoginRefusal): VerifyClientCallbackAsync {
    return ({ req }, callback) => {
      const isLogin = req.headers.authorization !== undefined;
      if (isLogin) this.refusedLogins += 1;
      const type = { 'Content-Type': 'application/json' };
      callback(!isLogin, status, JSON.stringify(reply), { ...type, ...headers });
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.[Symbol.asyncDispose]();
    const server = this.#server;
    if (server === undefined) return;
    for (const socket of server.clients) socket.terminate();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** Waits, for a rule about what a client leaves undone. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Makes a rule for clients. A failure shows what the client has written. */
export function clientRule(
  id: string,
  where: string,
  title: string,
  check: (client: ClientUnderTest) => Promise<void>,
  options: RuleOptions = {},
): Rule<ClientUnderTest> {
  const checkWithOutput = async (client: ClientUnderTest): Promise<void> => {
    try {
      await check(client);
    } catch (error) {
      const output = client.output.trim();
      if (!(error instanceof RuleFailure) || output === '') throw error;
      throw new RuleFailure(error.expected, `${error.received}; the client wrote: ${show(output)}`);
    }
  };
  return { id, where, title, check: checkWithOutput, deadlineMs: 40_000, ...options };
}
