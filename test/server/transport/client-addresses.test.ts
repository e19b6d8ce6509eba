import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { parseNetwork } from '../../../server/src/config/network.js';
import { ClientAddresses } from '../../../server/src/transport/client-addresses.js';
import { startTestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';

function request(remoteAddress: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const message = new IncomingMessage(socket);
  if (forwarded !== undefined) message.headers['x-forwarded-for'] = forwarded;
  return message;
}

test.each([
  ['nobody is trusted', [], '192.0.2.9', '198.51.100.7', '192.0.2.9'],
  ['a stranger says so', ['10.0.0.0/8'], '192.0.2.9', '198.51.100.7', '192.0.2.9'],
  ['a proxy says so', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.7', '198.51.100.7'],
  ['a client has written a list', ['10.0.0.0/8'], '10.1.2.3', '127.0.0.1, 198.51.100.7', '198.51.100.7'],
  ['two proxies are in front', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.7,10.9.9.9', '198.51.100.7'],
  ['all are proxies', ['10.0.0.0/8'], '10.1.2.3', '10.4.4.4', '10.4.4.4'],
  ['the list is no addresses', ['10.0.0.1'], '10.0.0.1', 'unknown, <x>', '10.0.0.1'],
  ['the list is missing', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
  ['a proxy speaks IPv6', ['fd00::/8'], 'fd00::1', '2001:db8::5', '2001:db8::5'],
  ['IPv4 comes as IPv6', ['10.0.0.0/8'], '::ffff:10.1.2.3', '198.51.100.7', '198.51.100.7'],
])('the address when %s', (_when, trusted, remote, forwarded, expected) => {
  expect(new ClientAddresses(trusted).of(request(remote, forwarded))).toBe(expected);
});

test.each(['', 'x', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', 'fd00::/129', '10.0.0'])(
  '%o is no network',
  (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  },
);

test('limits count by the address that a trusted proxy tells', async () => {
  await using hub = await startTestHub({
    trustedProxies: ['127.0.0.1'],
    limits: { maxUnauthenticatedPerAddress: 1 },
  });
  const open = async (address: string): Promise<TestSession> =>
    TestSession.open(hub.socketUrl, [], { headers: { 'x-forwarded-for': address } });
  await using first = await open('198.51.100.7');
  await using other = await open('198.51.100.8');
  await using second = await open('198.51.100.7');
  expect(await first.closed).toMatchObject({ code: 4401 });
  expect([other.isOpen, second.isOpen]).toEqual([true, true]);
});
