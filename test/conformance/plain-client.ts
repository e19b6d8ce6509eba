import { WebSocket } from 'ws';
import type { StartClient } from '../../server/src/conformance/client-under-test.js';
import { readMessage } from './mutating-proxy.js';

const functions = ['echo', 'fail', 'wait', 'waiting', 'count', 'progress', 'call', 'repeat', 'name'];

/**
 * Starts a client of some lines that serves what the kit wants and echoes every call.
 * @param open the address and the headers with which it connects
 */
export function startPlainClient(
  open: (url: string, token: string) => readonly [url: string, headers: Record<string, string>],
): StartClient {
  return ({ url, token }) => {
    const [address, headers] = open(url, token);
    const socket = new WebSocket(address, ['remotes.v1'], { headers });
    const serve = (nonce: string, remotename: string, names: readonly string[]): void => {
      const body = { remotename, tools: names.map((name) => ({ name })) };
      socket.send(JSON.stringify({ action: 'remote-connect', nonce, body }));
    };
    socket.on('error', () => undefined);
    socket.on('open', () => {
      serve('n1', 'conformance', functions);
      serve('n2', 'conformance#1', ['name']);
    });
    socket.on('message', (data: Buffer) => {
      const { action, requestId, args } = readMessage(data.toString());
      if (action !== 'remote-call') return;
      const { value: result } = { ...(args as { value?: unknown } | undefined) };
      socket.send(JSON.stringify({ action: 'remote-call-result', requestId, result }));
    });
    return {
      ending: undefined,
      output: '',
      [Symbol.asyncDispose]: async () => socket.terminate(),
    };
  };
}
