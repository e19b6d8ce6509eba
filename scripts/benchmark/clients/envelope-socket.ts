import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Access } from './adapter.js';

interface Message {
  action?: string;
  nonce?: number;
  requestId?: string;
  function?: string;
  args?: unknown;
  result?: unknown;
  error?: string;
}

type Settle = (reply: Message) => void;

/** A bare `ws` client that speaks the action envelope, as the hub and the floor do. */
export class EnvelopeSocket {
  readonly #requests = new Map<number, Settle>();
  #nonce = 0;
  #serve: ((call: Message) => void) | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.#receive(JSON.parse(data.toString()) as Message));
    socket.once('close', () => {
      for (const settle of this.#requests.values()) settle({ error: 'the connection was closed' });
    });
  }

  static async open(access: Access): Promise<EnvelopeSocket> {
    return new EnvelopeSocket(await openSocket(access));
  }

  /** @throws what the reply says was wrong */
  async request(action: string, body: object): Promise<Message> {
    const nonce = this.#nonce++;
    this.socket.send(JSON.stringify({ action, nonce, body }));
    return new Promise((resolve, reject) => {
      this.#requests.set(nonce, (reply) => {
        if (reply.error === undefined) resolve(reply);
        else reject(new Error(`${action}: ${reply.error}`));
      });
    });
  }

  /** Answers calls by their arguments, of those functions that `answers` says. */
  serve(answers: (functionName: string) => boolean = () => true): void {
    this.#serve = ({ requestId, function: name = '', args }) => {
      if (!answers(name)) return;
      this.socket.send(JSON.stringify({ action: 'remote-call-result', requestId, result: args }));
    };
  }

  async connectRemote(remotename: string, tools: readonly object[]): Promise<void> {
    await this.request('remote-connect', { remotename, tools });
  }

  close(): void {
    this.socket.terminate();
  }

  #receive(message: Message): void {
    const { action, nonce } = message;
    if (action === 'remote-call') this.#serve?.(message);
    else if (action === undefined && nonce !== undefined) {
      this.#requests.get(nonce)?.(message);
      this.#requests.delete(nonce);
    }
  }
}

/** A bare `ws` client that has been let in. */
export async function openSocket({ url, token }: Access): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  await once(socket, 'open');
  return socket;
}
