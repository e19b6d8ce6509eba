import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Target } from './targets.js';

interface Reply {
  action?: string;
  nonce?: number;
  requestId?: string;
  args?: unknown;
  result?: { n?: number };
  error?: string;
}

/** A bare `ws` client of a target. */
export async function openSocket({ url, token }: Target): Promise<WebSocket> {
  const socket = new WebSocket(
    url,
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
  await once(socket, 'open');
  return socket;
}

/** Serves `echo` of the remote `bench`: the result is the arguments. */
export async function serveEcho(target: Target): Promise<WebSocket> {
  const socket = await openSocket(target);
  const connected = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Reply;
      if (message.action === 'remote-call') {
        const { requestId, args } = message;
        socket.send(JSON.stringify({ action: 'remote-call-result', requestId, result: args }));
      } else if (message.nonce === 0) resolve();
    });
  });
  const parameters = {
    type: 'object',
    properties: { n: { type: 'integer' }, text: { type: 'string' } },
    required: ['n'],
  };
  const tools = [{ name: 'echo', description: 'Echoes its arguments.', parameters }];
  socket.send(JSON.stringify({ action: 'remote-connect', nonce: 0, body: { remotename: 'bench', tools } }));
  await connected;
  return socket;
}

/** Calls `echo` so many times, so many at once. Every reply is checked to be its own. */
export class Caller {
  #sent = 0;
  #done = 0;
  #total = 0;
  readonly #startedAt = new Map<number, number>();
  #latencies: number[] = [];
  #finish: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly padding: string,
  ) {
    socket.on('message', (data: Buffer) => this.#receive(JSON.parse(data.toString()) as Reply));
  }

  static async open(target: Target, payloadBytes = 0): Promise<Caller> {
    return new Caller(await openSocket(target), 'x'.repeat(payloadBytes));
  }

  /** @returns seconds it took, and the latency of each call in milliseconds */
  async run(total: number, inFlight: number): Promise<{ seconds: number; latencies: number[] }> {
    this.#total = this.#sent + total;
    this.#latencies = [];
    const began = performance.now();
    const finished = new Promise<void>((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    for (let n = 0; n < Math.min(inFlight, total); n += 1) this.#call();
    await finished;
    return { seconds: (performance.now() - began) / 1_000, latencies: this.#latencies };
  }

  close(): void {
    this.socket.terminate();
  }

  #call(): void {
    const n = this.#sent++;
    this.#startedAt.set(n, performance.now());
    const args = this.padding === '' ? { n } : { n, text: this.padding };
    this.socket.send(
      JSON.stringify({
        action: 'remote-call',
        nonce: n,
        body: { remotename: 'bench', function: 'echo', args },
      }),
    );
  }

  #receive({ action, nonce, result, error }: Reply): void {
    if (action !== undefined || nonce === undefined) return;
    if (error !== undefined || result?.n !== nonce) {
      this.#fail?.(new Error(`call ${nonce} was answered with ${error ?? JSON.stringify(result)}`));
      return;
    }
    this.#latencies.push(performance.now() - (this.#startedAt.get(nonce) ?? 0));
    this.#startedAt.delete(nonce);
    this.#done += 1;
    if (this.#sent < this.#total) this.#call();
    else if (this.#done === this.#total) this.#finish?.();
  }
}
