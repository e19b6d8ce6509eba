import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const OK = '+OK\r\n';

/**
 * Sends one command to a Redis server on 127.0.0.1 over a connection of its own, and gives the raw reply.
 * @param command words without spaces of their own, such as `CLUSTER INFO`
 * @throws the server does not accept connections, or replies with an error
 */
export async function redisCommand(port: number, command: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  // after QUIT the server ends the connection, so the reply is all that comes before
  socket.write(`${command}\r\nQUIT\r\n`);
  const all = await text(socket);
  const reply = all.endsWith(OK) ? all.slice(0, -OK.length) : all;
  if (reply.startsWith('-')) throw new Error(`Redis refused ${command}: ${reply.slice(1).trim()}`);
  return reply;
}
