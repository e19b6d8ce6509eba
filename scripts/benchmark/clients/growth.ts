/** Bare `ws` clients of a hub that holds much beside the calls that are measured. */
import { echoSpec } from '../payload.js';
import type { Access, Adapter, Closing, EchoCaller } from './adapter.js';
import { EnvelopeSocket, openSocket } from './envelope-socket.js';
import { work } from './worker.js';

/** How much there is of what a call has nothing to do with. */
export interface Surroundings {
  /** Remotes of the user, the called one among them. */
  readonly remotes: number;
  /** Functions of the called remote, the called one among them. */
  readonly functions: number;
  /** Calls of the same caller to the same serving session that are never answered. */
  readonly pendingCalls: number;
}

/** Longer than a run: calls that hang stay pending. */
const HANGING_TIMEOUT_MS = 600_000;

class SurroundedClients implements Adapter {
  #surroundings: Surroundings = { remotes: 1, functions: 1, pendingCalls: 0 };
  #hanging = 0;
  #allHang: (() => void) | undefined;

  surround(surroundings: Surroundings): void {
    this.#surroundings = surroundings;
  }

  async serve(access: Access): Promise<Closing> {
    const socket = await EnvelopeSocket.open(access);
    socket.serve((name) => this.#answers(name));
    for (let other = 1; other < this.#surroundings.remotes; other += 1)
      await socket.connectRemote(`other-${other}`, [echoSpec]);
    const hang = { ...echoSpec, name: 'hang' };
    const others = Array.from({ length: this.#surroundings.functions - 1 }, (_, index) => ({
      ...echoSpec,
      name: `other-${index}`,
    }));
    await socket.connectRemote(
      'bench',
      this.#surroundings.pendingCalls > 0 ? [hang, echoSpec] : [...others, echoSpec],
    );
    return socket;
  }

  async caller(access: Access): Promise<EchoCaller> {
    const socket = await EnvelopeSocket.open(access);
    await this.#startHanging(socket);
    return {
      call: async (args) => {
        const body = { remotename: 'bench', function: 'echo', args };
        return (await socket.request('remote-call', body)).result;
      },
      close: () => socket.close(),
    };
  }

  async idle(access: Access): Promise<Closing> {
    const socket = await openSocket(access);
    return { close: () => socket.terminate() };
  }

  #answers(functionName: string): boolean {
    if (functionName !== 'hang') return true;
    this.#hanging += 1;
    if (this.#hanging === this.#surroundings.pendingCalls) this.#allHang?.();
    return false;
  }

  async #startHanging(socket: EnvelopeSocket): Promise<void> {
    const { pendingCalls } = this.#surroundings;
    if (pendingCalls === 0) return;
    const allHang = new Promise<void>((resolve, reject) => {
      this.#allHang = resolve;
      for (let n = 0; n < pendingCalls; n += 1) {
        const body = { remotename: 'bench', function: 'hang', args: { n }, timeoutMs: HANGING_TIMEOUT_MS };
        socket.request('remote-call', body).catch(reject);
      }
    });
    await allHang;
  }
}

const clients = new SurroundedClients();
work(clients, { surround: (surroundings: Surroundings) => clients.surround(surroundings) });
