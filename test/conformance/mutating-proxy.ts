import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';

/** What a proxy does to one connection; what it does not say passes unchanged. */
export interface Mutation {
  /** Gives what is sent on in place of a frame of the client. */
  readonly fromClient?: (text: string, reply: (text: string) => void) => readonly string[];
  /** Gives what is sent on in place of a frame of the hub. */
  readonly fromHub?: (text: string) => readonly string[];
  /** The code with which a close of the hub reaches the client. */
  readonly closeCode?: (code: number) => number;
  /** The status of a refused upgrade. */
  readonly refusal?: (status: number) => number;
  /** The address and headers of the upgrade at the hub. */
  readonly upgrade?: (url: URL, headers: Record<string, string>) => void;
  /** Selected in place of what the hub has selected. */
  readonly subprotocol?: string;
  /** Whether pings pass. @default true */
  readonly passesPings?: boolean;
}

/** A proxy between a client and a hub that breaks the rules in one way. */
export interface MutatingProxy extends AsyncDisposable {
  /** The hub's WebSocket URL with the proxy's port. */
  readonly url: string;
}

const passedHeaders = ['authorization', 'remotes-instance-id', 'origin'] as const;

/** Starts a proxy in front of a `ws:` URL. @param mutate makes what is done to one connection */
export async function startMutatingProxy(target: string, mutate: () => Mutation): Promise<MutatingProxy> {
  const server = createServer((incoming, response) => relayRequest(target, incoming, response));
  const sockets = new Set<WebSocket>();
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    const mutation = mutate();
    const hub = openAtHub(target, incoming, mutation);
    sockets.add(hub);
    hub.on('error', () => socket.destroy());
    hub.on('unexpected-response', (_request, response: IncomingMessage) => {
      void refuse(socket, response, mutation);
    });
    hub.on('open', () => {
      const selected = mutation.subprotocol ?? (hub.protocol || false);
      const accepting = new WebSocketServer({
        noServer: true,
        autoPong: false,
        handleProtocols: () => selected,
      });
      accepting.handleUpgrade(incoming, socket, head, (client) => {
        sockets.add(client);
        join(client, hub, mutation);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a proxy listens on a port');
  const url = new URL(target);
  url.port = String(address.port);
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function openAtHub(target: string, incoming: IncomingMessage, { upgrade }: Mutation): WebSocket {
  const url = new URL(incoming.url ?? '/', target);
  const headers: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = incoming.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  upgrade?.(url, headers);
  // `ws` takes no connection of which none of its offers was selected, so only what is selected is offered
  const offersV1 = incoming.headers['sec-websocket-protocol']?.includes('remotes.v1') ?? false;
  return new WebSocket(url, offersV1 ? ['remotes.v1'] : [], {
    headers,
    autoPong: false,
    perMessageDeflate: false,
  });
}

async function refuse(socket: Duplex, response: IncomingMessage, { refusal }: Mutation): Promise<void> {
  let body = '';
  for await (const piece of response.setEncoding('utf8')) body += String(piece);
  const status = refusal?.(response.statusCode ?? 500) ?? response.statusCode;
  const authenticate = response.headers['www-authenticate'];
  const header = authenticate === undefined ? '' : `WWW-Authenticate: ${authenticate}\r\n`;
  socket.end(`HTTP/1.1 ${status} Refused\r\n${header}Connection: close\r\n\r\n${body}`);
}

function join(client: WebSocket, hub: WebSocket, mutation: Mutation): void {
  const { fromClient, fromHub, closeCode, passesPings = true } = mutation;
  client.on('message', (data: Buffer, isBinary) => {
    if (isBinary || fromClient === undefined) return hub.send(data, { binary: isBinary });
    for (const text of fromClient(data.toString(), (reply) => client.send(reply))) hub.send(text);
  });
  hub.on('message', (data: Buffer, isBinary) => {
    if (isBinary || fromHub === undefined) return client.send(data, { binary: isBinary });
    for (const text of fromHub(data.toString())) client.send(text);
  });
  for (const [from, to] of [
    [client, hub],
    [hub, client],
  ] as const) {
    if (passesPings) from.on('ping', (data: Buffer) => to.ping(data));
    from.on('pong', (data: Buffer) => to.pong(data));
    from.on('error', () => undefined);
  }
  client.on('close', (code, reason) => end(hub, code, reason));
  hub.on('close', (code, reason) => end(client, closeCode?.(code) ?? code, reason));
}

function end(socket: WebSocket, code: number, reason: Buffer): void {
  if (code === 1005) socket.close();
  else if (code === 1006) socket.terminate();
  else socket.close(code, reason);
}

function relayRequest(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const url = new URL(incoming.url ?? '/', target.replace(/^ws/u, 'http'));
  const sent = request(url, { method: incoming.method, headers: incoming.headers, agent: false });
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  incoming.pipe(sent);
}

/** A frame as an object; what is none is `{}`. */
export function readMessage(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Makes a mutation of the messages that fit; the others pass as the text they came in. */
export function changing(
  fits: (message: Record<string, unknown>) => boolean,
  change: (message: Record<string, unknown>) => readonly object[],
): (text: string) => readonly string[] {
  return (text) => {
    const message = readMessage(text);
    return fits(message) ? change(message).map((changed) => JSON.stringify(changed)) : [text];
  };
}
