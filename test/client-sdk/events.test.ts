import { expect, expectTypeOf, test, vi } from 'vitest';
import { LoggedIn } from './scripted-hub.js';

test('listeners get the bodies of their events, until they are removed', async () => {
  await using session = await LoggedIn.start();
  const seen: unknown[] = [];
  const remove = session.client.on('remote-connected', (body) => {
    expectTypeOf(body).toEqualTypeOf<{ remotename: string }>();
    seen.push(body);
  });
  session.client.on('session-expiring', ({ expiresAt }) => seen.push(expiresAt));
  session.hub.send({ action: 'remote-connected', body: { remotename: 'a' } });
  session.hub.send({ action: 'session-expiring', body: { sessionId: 's1', expiresAt: 5 } });
  await session.settled();
  remove();
  remove();
  session.hub.send({ action: 'remote-connected', body: { remotename: 'b' } });
  await session.settled();

  expect(seen).toEqual([{ remotename: 'a' }, 5]);
});

test('a listener that throws or rejects breaks neither the others nor the connection', async () => {
  await using session = await LoggedIn.start();
  const report = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const seen: unknown[] = [];
  session.client.on('remote-connected', () => {
    throw new Error('thrown');
  });
  session.client.on('remote-connected', async () => {
    throw new Error('rejected');
  });
  session.client.on('remote-connected', ({ remotename }) => seen.push(remotename));
  session.hub.send({ action: 'remote-connected', body: { remotename: 'a' } });
  await session.settled();

  expect(seen).toEqual(['a']);
  expect(report).toHaveBeenCalledTimes(2);
  expect(session.client.isOpen).toBe(true);
  report.mockRestore();
});

test('an event whose body does not fit, and a "close" from the wire, reach nobody', async () => {
  await using session = await LoggedIn.start();
  const seen: unknown[] = [];
  session.client.on('remote-connected', (body) => seen.push(body));
  session.client.on('close', (body) => seen.push(body));
  session.hub.send({ action: 'remote-connected', body: { remotename: 7 } });
  session.hub.send({ action: 'remote-connected' });
  session.hub.send({ action: 'close', body: { code: 1, reason: 'trick' } });
  await session.settled();

  expect(seen).toEqual([]);
});

test('a listener that adds itself anew is called once per event', async () => {
  await using session = await LoggedIn.start();
  const { client } = session;
  let count = 0;
  const listen = (): void => {
    const remove = client.on('remote-connected', () => {
      count += 1;
      remove();
      listen();
    });
  };
  listen();
  session.hub.send({ action: 'remote-connected', body: { remotename: 'a' } });
  session.hub.send({ action: 'remote-connected', body: { remotename: 'b' } });
  await session.settled();

  expect(count).toBe(2);
});
