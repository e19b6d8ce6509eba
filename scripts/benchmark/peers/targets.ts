import type { Target } from '../targets.js';

/** By it the tables find what calls across nodes are compared with, too. */
export const SOCKET_IO_TITLE = 'Socket.IO';

/** What people use instead, from the package registry; `nats-server` is used where it is in PATH. */
export const peerTargets: readonly Target[] = [
  peer(
    'socket.io',
    SOCKET_IO_TITLE,
    'socket-io',
    ['socket.io', '@socket.io/redis-adapter'],
    'peers/socket-io-node',
  ),
  peer('rpc-websockets', 'rpc-websockets', 'rpc-websockets', ['rpc-websockets']),
  peer('wamp', 'WAMP router fox-wamp', 'wamp', ['fox-wamp', 'autobahn']),
  peer('deepstream', 'deepstream', 'deepstream', ['@deepstream/server', '@deepstream/client']),
  peer('nats', 'NATS', 'nats', ['@nats-io/transport-node'], 'peers/nats-server'),
];

function peer(
  name: string,
  title: string,
  program: string,
  packages: readonly string[],
  node?: string,
): Target {
  return {
    name,
    title,
    server: `peers/${program}-server`,
    clients: `peers/${program}-clients`,
    node,
    packages,
    idleRounds: 1,
    fansOut: true,
  };
}
