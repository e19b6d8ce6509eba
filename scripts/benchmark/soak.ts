/**
 * Whether the hub forgets what is over: `scripts/soak` opens and closes 10,000 sessions and makes 100,000 calls,
 * and compares the hub's heap after a full collection with what it was. Exits with 1 when more than 2 MiB or an
 * entry stays behind.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { buildPrograms } from './build.js';
import { EnvelopeSocket, openSocket } from './clients/envelope-socket.js';
import { Load } from './clients/load.js';
import { MeasuredServer } from './measured-server.js';
import { Payload, echoSpec } from './payload.js';
import { TokenIssuer } from './tokens.js';

const SESSIONS = 10_000;
const CALLS = 100_000;
const AT_ONCE = 100;
const IN_FLIGHT = 64;
const TOLERANCE_BYTES = 2 * 1024 * 1024;

const MIB = 1024 * 1024;
const show = (bytes: number): string => `${(bytes / MIB).toFixed(2)} MiB`;

process.exitCode = (await soak()) ? 0 : 1;

/** @returns whether nothing stayed behind */
async function soak(): Promise<boolean> {
  await buildPrograms(['servers/hub']);
  await using hub = await MeasuredServer.start('servers/hub');
  await using tokens = new TokenIssuer();
  const [token = ''] = await tokens.ofOneUser(1);
  const access = { url: hub.url, token };
  const heap = async (): Promise<number> => hub.program.ask('collect', {}, z.number());

  await churn(access, 1_000); // code and caches warm, so that they do not count
  await call(access, 10_000);
  const before = await heap();
  await churn(access, SESSIONS);
  const afterSessions = await heap();
  const calls = await call(access, CALLS);
  const afterCalls = await heap();
  const counts = await hub.program.ask('counts', {}, z.record(z.string(), z.number()));

  console.log(`heap before: ${show(before)}`);
  console.log(`after ${SESSIONS} sessions opened and closed: ${show(afterSessions)}`);
  console.log(`after ${calls} calls more: ${show(afterCalls)}`);
  console.log(`left in the hub: ${JSON.stringify(counts)}`);
  const left = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return afterCalls - before <= TOLERANCE_BYTES && left === 0;
}

interface Access {
  readonly url: string;
  readonly token: string;
}

async function churn(access: Access, sessions: number): Promise<void> {
  for (let opened = 0; opened < sessions; opened += AT_ONCE) {
    const sockets = await Promise.all(Array.from({ length: AT_ONCE }, async () => openSocket(access)));
    await Promise.all(
      sockets.map(async (socket) => {
        const closed = once(socket, 'close');
        socket.close();
        await closed;
      }),
    );
  }
}

/** @returns how many calls were made: at least so many */
async function call(access: Access, atLeast: number): Promise<number> {
  const serving = await EnvelopeSocket.open(access);
  serving.serve();
  await serving.connectRemote('bench', [echoSpec]);
  const socket = await EnvelopeSocket.open(access);
  const caller = {
    call: async (args: object): Promise<unknown> => {
      const body = { remotename: 'bench', function: 'echo', args };
      return (await socket.request('remote-call', body)).result;
    },
    close: () => socket.close(),
  };
  const load = new Load([caller], new Payload('rows', 0));
  let calls = 0;
  while (calls < atLeast) calls += (await load.run(IN_FLIGHT, 500)).calls;
  caller.close();
  serving.close();
  await setTimeout(500); // the hub has seen both close
  return calls;
}
