/**
 * deepstream, with its HTTP server on Node and `ws`: the other one, uWebSockets.js, is not in the package registry.
 * It routes calls by itself.
 */
import deepstream from '@deepstream/server';
import { freePort } from '../ports.js';
import { announce } from '../servers/instruments.js';

const port = await freePort();
const maxMessageSize = 4 * 1_024 * 1_024;
const server = new deepstream.Deepstream({
  showLogo: false,
  logLevel: 'WARN',
  httpServer: {
    type: 'default',
    options: { host: '127.0.0.1', port, allowAllOrigins: true, maxMessageSize },
  },
  rpc: { ackTimeout: 30_000, responseTimeout: 30_000 }, // a megabyte takes longer than its second on a busy machine
  connectionEndpoints: [
    { type: 'ws-binary', options: { urlPath: '/deepstream', heartbeatInterval: 30_000, maxMessageSize } },
  ],
});
server.on('started', () => announce({ url: `ws://127.0.0.1:${port}/deepstream` }));
server.start();
