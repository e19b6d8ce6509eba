import { afterEach, expect, test, vi } from 'vitest';
import { announceClosing } from '../../../server/src/sessions/closing-notice.js';
import { Session } from '../../../server/src/sessions/session.js';
import { startTestHub } from '../../support/hub.js';

afterEach(() => void vi.restoreAllMocks());

test('SESSION-05: at shutdown every session is told when to come back, and that is its last message', async () => {
  await using hub = await startTestHub();
  const sessions = [await hub.connect(), await hub.connect({ v1: true }), await hub.connect({ user: 'u2' })];
  const stranger = await hub.open();
  const [serving, caller] = sessions;
  await serving?.serve('x', ['f']);
  const reply = caller?.call('x', 'f');
  await serving?.next('remote-call');
  const closed = hub.hub.close();
  expect(await reply).toMatchObject({ code: 'shutting-down' });
  const ids: unknown[] = [];
  for (const session of sessions) {
    expect(await session.end()).toEqual({ code: 1001, reason: 'the hub is going away' });
    const last = JSON.parse(session.frames.at(-1) ?? '') as { action: string; body: Record<string, unknown> };
    expect(Object.keys(last.body)).toEqual(['sessionId', 'reconnectAfterMs']);
    expect(last.action).toBe('session-closing');
    expect(last.body['reconnectAfterMs']).toBeGreaterThanOrEqual(0);
    expect(last.body['reconnectAfterMs']).toBeLessThan(5_000);
    ids.push(last.body['sessionId']);
    expect(session.events.filter(({ action }) => action === 'session-closing')).toHaveLength(1);
  }
  expect(new Set(ids).size).toBe(3);
  expect(await stranger.end()).toMatchObject({ code: 1001 });
  expect(stranger.frames).toEqual([]); // it has not logged in
  await closed;
});

test('SESSION-05: a session that the hub closes for another reason is not told', async () => {
  await using hub = await startTestHub();
  const instanceId = 'q8Zr3kX0aW5nT7uB';
  const replaced = await hub.connect({ instanceId });
  await hub.connect({ instanceId });
  await replaced.end();
  expect(replaced.events.map(({ action }) => action)).not.toContain('session-closing');
});

/** What so many sessions are told. */
function delaysOf(count: number): number[] {
  const delays: number[] = [];
  const sessions = Array.from(
    { length: count },
    (_, index) =>
      new Session({
        id: `s${index}`,
        identity: { userId: 'u1' },
        peer: {
          send: (text) => {
            const { body } = JSON.parse(String(text)) as {
              body: { sessionId: string; reconnectAfterMs: number };
            };
            expect(body.sessionId).toBe(`s${index}`);
            delays.push(body.reconnectAfterMs);
          },
          close: () => undefined,
          terminate: () => undefined,
          probe: async () => true,
        },
        address: '192.0.2.1',
        instanceKey: undefined,
        speaksV1: false,
      }),
  );
  announceClosing(sessions);
  return delays;
}

test.each([
  [1, 5_000],
  [1_000, 5_000],
  [1_001, 5_005],
  [4_000, 20_000],
  [6_000, 30_000],
  [7_000, 30_000],
])('SESSION-05: %i sessions come back within %i ms', (count, spreadMs) => {
  vi.spyOn(Math, 'random')
    .mockReturnValueOnce(0)
    .mockReturnValue(1 - Number.EPSILON);
  const delays = [...delaysOf(count), ...delaysOf(count)];
  expect(delays[0]).toBe(0);
  expect(Math.max(...delays)).toBe(spreadMs - 1);
  expect(delays.every(Number.isInteger)).toBe(true);
});

test('SESSION-05: the delays of many sessions are spread evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const delay of delaysOf(5_000)) {
    const tenth = Math.floor(delay / 2_500);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // 500 expected in each, with a standard deviation of 21
  for (const count of tenths) expect(Math.abs(count - 500)).toBeLessThan(150);
});
