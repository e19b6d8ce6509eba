import type { Target } from '../targets.js';

/** What people use instead, from the package registry; `nats-server` is used where it is in PATH. */
export const peerTargets: readonly Target[] = [
  peer('socket.io', 'Socket.IO', 'socket-io', ['socket.io']),
  peer('rpc-websockets', 'rpc-websockets', 'rpc-websockets', ['rpc-websockets']),
  peer('wamp', 'WAMP router fox-wamp', 'wamp', ['fox-wamp', 'autobahn']),
  peer('deepstream', 'deepstream', 'deepstream', ['@deepstream/server', '@deepstream/client']),
  peer('nats', 'NATS', 'nats', ['@nats-io/transport-node']),
];

function peer(name: string, title: string, program: string, packages: readonly string[]): Target {
  return {
    name,
    title,
    server: `peers/${program}-server`,
    clients: `peers/${program}-clients`,
    packages,
    idleRounds: 1,
    fansOut: true,
  };
}
