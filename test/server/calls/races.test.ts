import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { onOneNode, startTestHub } from '../../support/hub.js';

const cancelled = {
  error: 'the call was cancelled',
  code: 'call-cancelled',
  executed: 'unknown',
  retryable: false,
};
const call = (nonce: unknown, more: object = {}): object => ({
  action: 'remote-call',
  nonce,
  body: { remotename: 'x', function: 'f', ...more },
});

// on two nodes: a name that this node does not have is looked up, and the call can be cancelled until then
onOneNode(
  'CALL-16 CALL-18: a result against a cancel, both orders in one write: the first counts',
  async () => {
    await using hub = await startTestHub();
    const session = await hub.connect();
    await session.serve('x', ['f']);
    const cancel = { action: 'remote-call-cancel', nonce: 'x', body: { nonce: 'a' } };

    session.send(call('a'));
    const first = await session.next('remote-call');
    session.sendTogether({ action: 'remote-call-result', requestId: first['requestId'], result: 1 }, cancel);
    expect(await session.reply('a')).toEqual({ result: 1, nonce: 'a' });
    expect(await session.reply('x')).toMatchObject({ cancelled: 0 });

    session.send(call('a'));
    const second = await session.next('remote-call');
    session.sendTogether(cancel, { action: 'remote-call-result', requestId: second['requestId'], result: 2 });
    expect(await session.reply('a')).toEqual({ ...cancelled, requestId: 'x#1', nonce: 'a' });
    expect(await session.reply('x')).toMatchObject({ cancelled: 1 });

    session.sendTogether(call('a', { remotename: 'nobody' }), cancel);
    expect(await session.reply('a')).toMatchObject({ code: 'remote-not-connected' });
    expect(await session.reply('x')).toMatchObject({ cancelled: 0 });
    await session.settle();
    expect([...session.replies, ...session.others]).toEqual([]);
  },
);

test('CALL-16: a result against a disconnect and against the timeout, both orders: the first counts', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const session = await hub.connect();
  const result = (requestId: unknown): object => ({
    action: 'remote-call-result',
    requestId,
    result: 'in time',
  });
  const disconnect = { action: 'remote-disconnect', body: { remotename: 'x' } };
  const start = async (nonce: string, more = {}): Promise<unknown> => {
    await session.serve('x', ['f']);
    session.send(call(nonce, more));
    return (await session.next('remote-call'))['requestId'];
  };

  session.sendTogether(result(await start('a')), disconnect);
  expect(await session.reply('a')).toMatchObject({ result: 'in time' });
  session.sendTogether(disconnect, result(await start('b')));
  expect(await session.reply('b')).toMatchObject({ code: 'remote-disconnected' });
  const third = await start('c', { timeoutMs: 100 });
  await clock.advance(99);
  session.send(result(third));
  expect(await session.reply('c')).toMatchObject({ result: 'in time' });
  await clock.advance(1);
  const fourth = await start('d', { timeoutMs: 100 });
  await clock.advance(100);
  session.send(result(fourth));
  expect(await session.reply('d')).toMatchObject({ code: 'call-timeout' });
  await session.settle();
  expect(session.replies.filter(({ nonce }) => typeof nonce === 'string' && nonce.length === 1)).toEqual([]);
  expect(hub.hub.counts().pendingCalls).toBe(0);
});
