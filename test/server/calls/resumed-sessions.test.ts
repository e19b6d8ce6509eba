import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { answer, logIn, lose, lostPair, serve, start } from './resuming-fixtures.js';

test('CALL-23: request ids go on counting as long as the lost session may be resumed, for every name', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  await serve(serving, 'y');
  for (let call = 0; call < 3; call += 1) {
    const { requestId, reply } = await start(caller, serving, 'y');
    answer(serving, requestId, null);
    await reply;
  }
  caller.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f' } });
  await serving.next('remote-call');
  await lose(serving, caller);
  // nothing is in flight any more, and yet an answer to x#0 may still come
  await caller.request('remote-call-cancel', { nonce: 'c' });
  const { session, reply: login } = await logIn(hub);
  expect(login).toMatchObject({ resumed: true });
  for (const name of ['x', 'y']) await serve(session, name);
  expect((await start(caller, session)).requestId).toBe('x#1');
  expect((await start(caller, session, 'y')).requestId).toBe('y#3');
});

test('CALL-23: without a call in flight, or after a login of nobody’s instance, nothing is resumed and ids begin anew', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  answer(serving, requestId, 1);
  await reply;
  await lose(serving, caller);
  const { session, reply: login } = await logIn(hub);
  expect(login).toEqual({
    message: 'authenticated',
    userId: 'u1',
    sessionId: login['sessionId'],
    maxMessageBytes: 4_194_304,
    expiresAt: login['expiresAt'],
    nonce: 't1',
  });
  await serve(session, 'x');
  expect((await start(caller, session)).requestId).toBe('x#0');
  // a renewal resumes nothing and says nothing of it
  const renewed = await session.request('authenticate', { token: await hub.token() });
  expect(renewed).not.toHaveProperty('resumed');
});

test('CALL-23: another hub knows nothing of the calls of the one before', async () => {
  await using before = await startTestHub();
  const { serving, caller } = await lostPair(before);
  const { reply } = await start(caller, serving);
  await lose(serving, caller);
  await before.hub.close();
  expect(await reply).toMatchObject({ code: 'shutting-down' });
  await using hub = await startTestHub();
  const { session, reply: login } = await logIn(hub);
  expect(login).not.toHaveProperty('resumed');
  answer(session, 'x#0', 'late');
  await session.settle();
  expect(hub.hub.counts().ignoredMessages).toBe(1);
});
