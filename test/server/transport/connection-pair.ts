import type { Socket } from 'node:net';
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer, type ClientOptions } from 'ws';
import { createLogger } from '../../../server/src/observability/logger.js';
import { TrafficCounts } from '../../../server/src/observability/metrics.js';
import { HubSocket } from '../../../server/src/transport/hub-socket.js';
import { TextFrames } from '../../../server/src/transport/text-frames.js';
import {
  Connection,
  type ConnectionLimits,
  type Receiver,
} from '../../../server/src/transport/connection.js';

/** A connection of the hub without a hub, and its peer. */
export interface ConnectionPair extends Disposable {
  readonly connection: Connection;
  /** The hub's end. */
  readonly socket: WebSocket;
  readonly peer: WebSocket;
  /** The stream under the peer. */
  readonly peerStream: Duplex;
  /** The stream under the connection. */
  readonly stream: Socket;
  /** What the connection has delivered, in order. */
  readonly received: string[];
  readonly traffic: TrafficCounts;
  /** How often it was told to end. */
  readonly ends: () => number;
}

/** Connects over a real socket. */
export async function connectionPair(
  limits: Partial<ConnectionLimits> = {},
  options: ClientOptions = {},
): Promise<ConnectionPair> {
  const server = new WebSocketServer({
    WebSocket: HubSocket,
    port: 0,
    host: '127.0.0.1',
    perMessageDeflate: false,
  });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('it listens on a port');
  const connected = once(server, 'connection');
  const peer = new WebSocket(`ws://127.0.0.1:${address.port}`, options);
  peer.on('error', () => undefined);
  const [[upgrade]] = (await Promise.all([once(peer, 'upgrade'), once(peer, 'open')])) as [
    [IncomingMessage],
    [],
  ];
  const [socket, request] = (await connected) as unknown[];
  if (!(socket instanceof HubSocket) || !(request instanceof IncomingMessage)) {
    throw new TypeError('no connection');
  }
  const all = {
    maxQueuedBytes: 1e6,
    maxMessagesPerSecond: 1e6,
    heartbeatMs: 15_000,
    probeTimeoutMs: 2_000,
    ...limits,
  };
  const traffic = new TrafficCounts();
  const connection = new Connection({
    socket,
    stream: request.socket,
    frames: new TextFrames(),
    limits: all,
    traffic,
    log: createLogger('silent'),
    onClosed: () => undefined,
  });
  const received: string[] = [];
  let ends = 0;
  const receiver: Receiver = {
    who: {},
    receive: (frame) => void received.push(frame.toString()),
    receiveBinary: () => void received.push('(binary)'),
    end: () => {
      ends += 1;
    },
  };
  connection.deliverTo(receiver);
  return {
    connection,
    socket,
    peer,
    peerStream: upgrade.socket,
    stream: request.socket,
    received,
    traffic,
    ends: () => ends,
    [Symbol.dispose]: () => {
      connection.terminate();
      peer.terminate();
      server.close();
    },
  };
}

/** How the peer saw its connection end. */
export async function closeOf(peer: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => {
    peer.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
}
