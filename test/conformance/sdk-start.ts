import { connect, type ConnectOptions, type Hub, type ReconnectOptions } from '@remotes-hub/client';
import type { RunningClient, StartClient } from '../../server/src/conformance/client-under-test.js';
import { startMutatingProxy, type MutatingProxy, type Mutation } from './mutating-proxy.js';
import { serveConformance } from './sdk-functions.js';

/** How the SDK is started for a rule, beside what the rule says. */
export interface SdkStart {
  readonly reconnect?: ReconnectOptions;
  /** What a proxy between the SDK and the kit does, so that the SDK seems to do it. */
  readonly mutate?: () => Mutation;
}

/** Starts the SDK in this process as the client under test. */
export function startSdk({ reconnect = {}, mutate }: SdkStart = {}): StartClient {
  return ({ url, token }) => new SdkClient(url, { token, reconnect }, mutate);
}

class SdkClient implements RunningClient {
  ending: string | undefined;
  readonly output = '';
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #hub: Hub | undefined;
  #proxy: MutatingProxy | undefined;

  constructor(url: string, options: ConnectOptions, mutate: (() => Mutation) | undefined) {
    this.#running = this.#run(url, options, mutate).catch((error: unknown) => {
      this.ending = `an end with ${String(error)}`;
    });
  }

  async #run(url: string, options: ConnectOptions, mutate: (() => Mutation) | undefined): Promise<void> {
    this.#proxy = mutate && (await startMutatingProxy(url, mutate));
    this.#hub = await connect(this.#proxy?.url ?? url, { ...options, signal: this.#stop.signal });
    await serveConformance(this.#hub);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#hub?.close();
    await this.#proxy?.[Symbol.asyncDispose]();
    await this.#running;
  }
}
