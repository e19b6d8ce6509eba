import type { SocketConstructor } from './socket.js';

/** The socket that is used when `connect` is given none: in a browser, the page's own. */
export function defaultWebSocket(): SocketConstructor | undefined {
  return typeof WebSocket === 'undefined' ? undefined : WebSocket;
}
