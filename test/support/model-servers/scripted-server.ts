import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** One request that a model server got. */
export interface ModelRequestSeen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** What a model server does with one request. */
export type Answer = (response: ServerResponse) => void;

/** A model server on loopback that answers its requests one after the other as the test says. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ModelRequestSeen[];
  /** Connections that their client has closed before the answer was whole. */
  readonly aborted: { count: number };
}

/** Starts a server; the last answer serves every request that comes after it. */
export async function startModelServer(answers: readonly Answer[]): Promise<ModelServer> {
  const requests: ModelRequestSeen[] = [];
  const aborted = { count: 0 };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => void (text += chunk.toString()));
    request.on('end', () => {
      requests.push({
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(text) as Record<string, unknown>,
      });
      response.on('close', () => {
        if (!response.writableEnded) aborted.count += 1;
      });
      answers[Math.min(requests.length, answers.length) - 1]?.(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    aborted,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const eventStream = { 'Content-Type': 'text/event-stream' };

/** A whole stream in one piece. */
export function stream(text: string): Answer {
  return (response) => response.writeHead(200, eventStream).end(text);
}

/** A stream that arrives in two pieces, cut after so many bytes. */
export function streamCutAt(text: string, offset: number): Answer {
  return (response) => {
    const bytes = Buffer.from(text);
    response.writeHead(200, eventStream);
    response.write(bytes.subarray(0, offset), () => setImmediate(() => response.end(bytes.subarray(offset))));
  };
}

/** A stream that arrives byte by byte. */
export function streamByBytes(text: string): Answer {
  return (response) => {
    response.writeHead(200, eventStream);
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    response.end();
  };
}

/** A stream that begins and then says nothing more. */
export function stall(text: string): Answer {
  return (response) => void response.writeHead(200, eventStream).write(text);
}

/** A stream whose connection breaks. */
export function breakOff(text: string): Answer {
  return (response) => {
    response.writeHead(200, eventStream);
    response.write(text, () => response.destroy());
  };
}

/** A refusal. */
export function refuse(status: number, body: object, headers: Record<string, string> = {}): Answer {
  return (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}
