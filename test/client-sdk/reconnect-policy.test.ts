import { expect, test, vi } from 'vitest';
import { connect, type Close, type Socket } from '@remotes-hub/client';
import { mayReconnect, mayTryAgain, reconnectDelay } from '../../client-sdk/src/reconnect.js';
import { fakeClock } from '../support/clock.js';

const defaults = { delayMs: 5_000, maxDelayMs: 30_000 };

/** Delays of many clients before one attempt. */
function delays(attempt: number, hintMs?: number): number[] {
  return Array.from({ length: 2_000 }, () => reconnectDelay(attempt, defaults, hintMs));
}

test('SDK-10: delays have full jitter from the first attempt on, double, and stay below the cap', () => {
  for (const [attempt, bound] of [
    [0, 5_000],
    [1, 10_000],
    [2, 20_000],
    [3, 30_000],
    [60, 30_000],
  ] as const) {
    const sample = delays(attempt);
    expect(Math.max(...sample)).toBeLessThanOrEqual(bound);
    expect(Math.max(...sample)).toBeGreaterThan(bound * 0.9);
    expect(Math.min(...sample)).toBeLessThan(bound * 0.1);
  }
});

test('SDK-10: a hint of the hub is waited for, and no client comes before it', () => {
  const sample = delays(0, 8_000);
  expect(Math.min(...sample)).toBeGreaterThanOrEqual(8_000);
  expect(Math.max(...sample)).toBeLessThanOrEqual(9_250);
});

test.each([
  [1000, true], // a proxy that restarts
  [1001, true],
  [1006, true],
  [1011, true],
  [1012, true],
  [4401, true], // with other credentials
  [4408, true],
  [4429, true],
  [1002, false],
  [1003, false],
  [1007, false],
  [1008, false],
  [1009, false],
  [4400, false],
  [4409, false],
])('SDK-10: after the close code %i another connection is opened: %s', (code, may) => {
  expect(mayReconnect(code)).toBe(may);
});

test('SDK-10: a refused login is tried again with other credentials only', () => {
  expect(mayTryAgain('invalid-credentials', undefined, false)).toBe(false);
  expect(mayTryAgain('invalid-credentials', undefined, true)).toBe(true);
  expect(mayTryAgain('not-authenticated', undefined, false)).toBe(false);
  expect(mayTryAgain('not-authenticated', 4401, false)).toBe(true); // pushed out before its login was answered
  expect(mayTryAgain('rate-limited', undefined, false)).toBe(true);
  expect(mayTryAgain('rate-limited', 4429, false)).toBe(true);
  expect(mayTryAgain('shutting-down', 1001, false)).toBe(true);
  expect(mayTryAgain('message-too-large', 1009, false)).toBe(false);
  expect(mayTryAgain('invalid-body', undefined, true)).toBe(false);
});

/** A socket to a hub that logs in whoever comes while it is up, and keeps time of all attempts. */
class VirtualNetwork {
  isUp = true;
  refusesLogins = false;
  readonly attempts: number[] = [];
  readonly open = new Set<VirtualSocket>();
}

class VirtualSocket extends EventTarget {
  readyState = 0;

  constructor(private readonly network: VirtualNetwork) {
    super();
    network.attempts.push(Date.now());
    queueMicrotask(() => this.#arrive());
  }

  #arrive(): void {
    if (!this.network.isUp) return this.lose({ code: 1006, reason: '' });
    this.network.open.add(this);
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  send(text: string): void {
    const { action, nonce } = JSON.parse(text) as { action: string; nonce?: string };
    const login = this.network.refusesLogins
      ? { error: 'no', code: 'invalid-credentials' }
      : { message: 'authenticated', userId: 'u', sessionId: 's', maxMessageBytes: 1_000 };
    const reply = action === 'authenticate' ? login : { message: 'pong' };
    queueMicrotask(() => {
      const event = new MessageEvent('message', { data: JSON.stringify({ ...reply, nonce }) });
      if (this.readyState === 1) this.dispatchEvent(event);
    });
  }

  close(code = 1000, reason = ''): void {
    this.lose({ code, reason });
  }

  lose(close: Close): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.network.open.delete(this);
    this.dispatchEvent(Object.assign(new Event('close'), close));
  }
}

/** Clients of a virtual network, connected. */
async function connectAll(network: VirtualNetwork, count: number) {
  class Socketed extends VirtualSocket {
    constructor() {
      super(network);
    }
  }
  const WebSocket = Socketed as unknown as new (url: string, protocol: string) => Socket;
  return Promise.all(Array.from({ length: count }, () => connect('ws://hub', { token: 't', WebSocket })));
}

/** The largest share of the attempts that falls into one second. */
function busiestSecond(attempts: readonly number[]): number {
  const seconds = new Map<number, number>();
  for (const at of attempts)
    seconds.set(Math.floor(at / 1_000), (seconds.get(Math.floor(at / 1_000)) ?? 0) + 1);
  return Math.max(...seconds.values()) / attempts.length;
}

test('K155: 200 clients of a hub that restarts come back spread over time', async () => {
  using clock = fakeClock();
  const network = new VirtualNetwork();
  const clients = await connectAll(network, 200);
  network.attempts.length = 0;
  for (const socket of [...network.open]) socket.lose({ code: 1001, reason: 'the hub is shutting down' });
  for (let step = 0; step < 60; step += 1) await clock.advance(100);

  expect(clients.every(({ state }) => state === 'open')).toBe(true);
  expect(network.attempts).toHaveLength(200);
  expect(busiestSecond(network.attempts)).toBeLessThan(1 / 3);
  await Promise.all(clients.map(async (client) => client.close()));
});

test('K155: while the hub stays away the delays grow to the cap, and a stable time alone starts them anew', async () => {
  using clock = fakeClock();
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const network = new VirtualNetwork();
  const [client] = await connectAll(network, 1);
  const delaysMs: unknown[] = [];
  client?.on('state', ({ state, delayMs }) => state === 'reconnecting' && delaysMs.push(delayMs));
  const lose = () => [...network.open].forEach((socket) => socket.lose({ code: 1006, reason: '' }));
  network.isUp = false;
  await clock.advance(20_000); // it was stable
  lose();
  await clock.advance(5_000 + 10_000 + 20_000 + 30_000);
  network.isUp = true;
  await clock.advance(30_000);
  expect(delaysMs).toEqual([5_000, 10_000, 20_000, 30_000, 30_000]);

  await clock.advance(1_000);
  lose(); // too soon
  await clock.advance(30_000);
  await clock.advance(10_000);
  lose(); // stable
  expect(delaysMs.slice(5)).toEqual([30_000, 5_000]);
  vi.mocked(Math.random).mockRestore();
  await client?.close();
});

test('K155: a login that is refused is not tried again with the same token', async () => {
  using clock = fakeClock();
  const network = new VirtualNetwork();
  const clients = await connectAll(network, 20);
  network.attempts.length = 0;
  network.refusesLogins = true;
  for (const socket of [...network.open]) socket.lose({ code: 1001, reason: '' });
  await clock.advance(120_000);

  expect(network.attempts).toHaveLength(20);
  expect(clients.map(({ state }) => state)).toEqual(clients.map(() => 'closed'));
  expect(vi.getTimerCount()).toBe(0);
});
