import { setImmediate } from 'node:timers/promises';
import { array, assert, asyncProperty } from 'fast-check';
import { test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { step, users, type Step } from './interleaving-steps.js';
import { World } from './interleaving-world.js';

async function take(world: World, action: Step): Promise<void> {
  if (action.do === 'pass') return world.advance(action.ms);
  if (action.do === 'settle') return setImmediate();
  if (action.do === 'spoof') {
    const { ids } = world.anySeat(action.pick);
    return world.answer(world.anySeat(action.by), ids[action.pick % ids.length] ?? 'a#0', action.kind);
  }
  const seat = world.seat(action.slot);
  switch (action.do) {
    case 'connect':
      return world.connect(seat, action.name, action.resumeMs);
    case 'disconnect':
      return world.disconnect(seat, action.name, action.drain);
    case 'call':
      return world.call(seat, action.name, action.nonce, action.timeoutMs);
    case 'answer':
      return world.answer(seat, seat.ids[action.pick % seat.ids.length] ?? 'a#0', action.kind);
    case 'cancel':
      return world.cancel(seat, action.nonce);
    case 'close':
      return world.end(seat, 'closed', action.isCallerFirst);
    case 'lose':
      return world.end(seat, 'lost', action.isCallerFirst);
    case 'return':
      return world.return(seat, action.pick);
    case 'silence':
      seat.isSilent = true;
  }
}

test('CALL-17 CALL-22: any interleaving answers every call once, as the model says, and leaves nothing behind', async () => {
  using _clock = fakeClock();
  await assert(
    asyncProperty(array(step, { maxLength: 80, size: 'max' }), async (steps) => {
      const world = new World(users);
      for (const action of steps) {
        await take(world, action);
        world.check();
      }
      for (const seat of [...world.seats]) world.end(seat, 'closed', true);
      world.advance(1_000); // nobody has come back
      await setImmediate();
      world.checkEnd();
    }),
    { numRuns: 400 },
  );
});
