import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub } from '../../support/hub.js';

test('CALL-13: a call unanswered for 30 s fails, says how long it waited, and leaves its caller connected', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const weather = await hub.connect();
  const caller = await hub.connect();
  await weather.serve('weather', ['get_forecast']);

  const reply = caller.call('weather', 'get_forecast', {});
  expect(await weather.next()).toMatchObject({ action: 'remote-call', requestId: 'weather#0' });
  await clock.advance(29_999);
  expect(caller.replies).toEqual([]);
  await clock.advance(1);

  expect(await reply).toMatchObject({
    error: "remote 'weather' did not answer within 30000 ms",
    code: 'call-timeout',
    executed: 'unknown',
    retryable: false,
  });
  expect(await caller.call('nobody', 'f')).toMatchObject({ error: "no connected remote named 'nobody'" });
  expect(hub.hub.counts().pendingCalls).toBe(0);
});
