import { expect, test } from 'vitest';
import { agents, finished, prompt, waitingStep } from '../server/agents/hub-run-fixtures.js';
import { ScriptedModel } from '../server/agents/run-fixtures.js';
import { logIn, serve } from '../server/calls/resuming-fixtures.js';
import { eventually } from '../support/eventually.js';
import { redisNote, redisPath } from '../support/redis.js';
import {
  EVENTS,
  INSTANCES,
  REMOTES,
  RUN,
  WAITING,
  lengthened,
  numbered,
  startMixed,
} from './mixed-versions.js';
import { RAW_ID } from './raw-node.js';
import { FROM_HUB, INSTANCE_KEY, names, wire } from './wire-version-1.js';

const cluster = test.skipIf(redisPath === undefined);

cluster(`CLUSTER-10: a hub asks a node of version 1 about a name, and is asked${redisNote}`, async () => {
  await using mixed = await startMixed();
  const { hub, raw, say, mail, key } = mixed;
  await mixed.register();
  const session = await hub.connect();
  const refused = session.serve('x', ['f']);
  expect(await mail()).toBe(FROM_HUB + wire.askProbe);
  await say(wire.yes);
  expect(await refused).toMatchObject({ code: 'remote-already-connected' });
  const ended = session.request('remote-disconnect', { remotename: 'x' });
  expect(await mail()).toBe(FROM_HUB + numbered(wire.askDisconnect, 1));
  await say(numbered(wire.refusal, 1));
  expect(await ended).toMatchObject({ code: 'remote-not-connected', error: "no connected remote named 'x'" });
  const taken = session.serve('x', ['f']);
  expect(await mail()).toBe(FROM_HUB + numbered(wire.askProbe, 2));
  await say(numbered(wire.no, 2));
  expect(await taken).toMatchObject({ message: 'remote connected' });

  const connection = (await raw.redis.hget(key(REMOTES), '"x"'))?.split(' ')[1] ?? '';
  const own = (message: string): string => message.replace(names.connection, connection);
  await say(own(wire.askProbe));
  expect(await mail()).toBe(FROM_HUB + wire.yes);
  await say(wire.askProbe); // of another connection
  expect(await mail()).toBe(FROM_HUB + wire.no);
  await say(wire.askDisconnect);
  expect(await mail()).toBe(FROM_HUB + wire.refusal);
  await say(own(wire.askDisconnect));
  expect(await mail()).toBe(FROM_HUB + wire.yes);
  await session.event('remote-disconnected');
  expect(await raw.redis.hgetall(key(REMOTES))).toEqual({});

  await session.serve('x', ['f']);
  const again = (await raw.redis.hget(key(REMOTES), '"x"'))?.split(' ')[1] ?? '';
  await say(wire.overruled.replace(names.connection, again));
  await session.event('remote-disconnected');
  expect(await session.remotes()).toEqual([]);
});

cluster('CLUSTER-10: an instance comes from a node of version 1 with its calls', async () => {
  await using mixed = await startMixed();
  const { hub, hubId, raw, say, mail, key } = mixed;
  await raw.redis.hset(key(INSTANCES), INSTANCE_KEY, `${RAW_ID} ${names.session}`);
  const login = logIn(hub);
  const asked = await raw.mail();
  const place = (await raw.redis.hget(key(INSTANCES), INSTANCE_KEY)) ?? '';
  const session = place.split(' ')[1] ?? '';
  expect(place).toBe(`${hubId} ${session}`);
  expect(asked.replace(hubId, names.hub).replace(session, names.session)).toBe(FROM_HUB + wire.askTakeOver);
  await say(wire.takenOver);
  const { session: come, reply } = await login;
  expect(reply).toMatchObject({ resumed: true, sessionId: session });

  await say(wire.frame.replace(names.session, session));
  expect(await come.next()).toMatchObject({ action: 'remote-call-cancel', requestId: 'y#0' });
  come.send('{"action":"remote-call-result","requestId":"x#0","result":1e400}');
  expect(await mail({ session })).toBe(FROM_HUB + wire.sessionFrame);
  await come.close();
  expect(await mail({ session })).toBe(FROM_HUB + wire.sessionEnd);
});

cluster('CLUSTER-10: an instance goes to a node of version 1 with its calls', async () => {
  await using mixed = await startMixed();
  const { hub, hubId, raw, say, mail, key } = mixed;
  const caller = await hub.connect();
  const { session: serving } = await logIn(hub);
  await serve(serving, 'x', 10_000);
  const calls = [caller.call('x', 'f'), caller.call('x', 'f')];
  await serving.next('remote-call');
  await serving.next('remote-call');

  await say(wire.askTakeOver);
  expect(await serving.end()).toMatchObject({ code: 4409 });
  expect(await mail()).toBe(FROM_HUB + wire.takenOver.replace('"floor":1', '"floor":2'));
  expect(await raw.redis.smembers(key(WAITING))).toEqual([hubId]);
  await say(wire.sessionFrame);
  await eventually(() => caller.frames.at(-1) === '{"result":1e400,"nonce":"t1"}', 'the result');
  await caller.request('remote-call-cancel', { nonce: 't2' });
  expect(await mail()).toBe(FROM_HUB + wire.frame.replace('y#0', 'x#1'));
  expect(await calls[1]).toMatchObject({ code: 'call-cancelled' });
});

cluster(
  'CLUSTER-10: a call fails when its instance has left a node of version 1 in order, and waits when it was lost',
  async () => {
    await using mixed = await startMixed();
    const { hub, say, mail } = mixed;
    const caller = await hub.connect();
    for (const [index, end] of [wire.sessionEnd, wire.sessionLost].entries()) {
      const { session: serving } = await logIn(hub);
      await serve(serving, 'x', index === 0 ? 20_000 : 200);
      const call = caller.call('x', 'f');
      const { requestId } = await serving.next('remote-call');
      await say(wire.askTakeOver);
      await mail();
      const toldAt = performance.now();
      await say(end);
      expect(await call).toMatchObject({ code: 'remote-disconnected', executed: 'unknown', requestId });
      expect(performance.now() - toldAt).toBeGreaterThan(index === 0 ? 0 : 190);
      expect(performance.now() - toldAt).toBeLessThan(15_000);
    }
  },
);

cluster('CLUSTER-10: runs are followed and cancelled between a hub and a node of version 1', async () => {
  const waiting = waitingStep();
  await using mixed = await startMixed({
    config: { agents },
    options: { createModel: () => new ScriptedModel([waiting.step]) },
  });
  const { hub, hubId, raw, say, mail, key } = mixed;
  await raw.redis.set(key(RUN), RAW_ID);
  const session = await hub.connect();
  const replay = session.request('run-get', { runId: 'r1' });
  expect(await mail()).toBe(FROM_HUB + wire.askRunGet);
  await say(wire.runReplay);
  expect(await replay).toMatchObject({
    runId: 'r1',
    firstSeq: 0,
    isFinished: true,
    events: [{ action: 'run-finished', body: {} }],
  });
  const cancelled = session.request('run-cancel', { runId: 'r1' });
  expect(await mail()).toBe(FROM_HUB + numbered(wire.askRunCancel, 1));
  await say(numbered(wire.yes, 1));
  expect(await cancelled).toMatchObject({ message: 'run cancelled' });
  const ended = session.request('run-cancel', { runId: 'r1' });
  await mail();
  await say(numbered(wire.runNotFound, 2));
  expect(await ended).toMatchObject({ code: 'run-not-found', error: "no run with id 'r1'" });

  await say(wire.askRunGet);
  expect(await mail()).toBe(FROM_HUB + wire.runNotFound);
  const runId = await prompt(session);
  await session.event('run-text');
  const field = Buffer.from(JSON.stringify(runId)).toString('base64url');
  expect(await raw.redis.get(key(`user:{InUxIg}:run:${field}`))).toBe(hubId);
  const own = (message: string): string => lengthened(message.replace('"r1"', JSON.stringify(runId)));
  await say(own(wire.askRunGet));
  expect(await mail()).toContain(
    '["answer",0,{"firstSeq":0,"isFinished":false}][{"action":"run-started","body":{',
  );
  await say(own(wire.askRunCancel));
  expect(await mail()).toBe(FROM_HUB + wire.yes);
  expect(await finished(session)).toMatchObject({ status: 'cancelled' });
});

cluster('CLUSTER-10: events and heartbeats pass between a hub and a node of version 1', async () => {
  await using mixed = await startMixed({ leaseMs: 2_000 });
  const { hub, hubId, raw, key } = mixed;
  const session = await hub.connect();
  await raw.publish(
    EVENTS,
    `["${RAW_ID}","{\\"action\\":\\"remote-connected\\",\\"body\\":{\\"remotename\\":\\"é\\"}}"]`,
  );
  await raw.publish(EVENTS, `["${RAW_ID}"]`);
  await raw.publish(EVENTS, `["${hubId}","{\\"action\\":\\"remote-connected\\"}"]`);
  await session.event('remote-connected');
  expect(session.frames.at(-1)).toContain('"remotename":"');

  expect(await raw.redis.get(key(`node:{${hubId}}:lease`))).toBe('0');
  expect(await raw.redis.pttl(key(`node:{${hubId}}:lease`))).toBeLessThanOrEqual(2_000);
  await raw.listen('heartbeats');
  expect(await raw.next('heartbeats', hubId)).toBe(`${hubId} 0`);
  await hub.hub.close();
  expect(await raw.next('heartbeats', 'gone')).toBe(`${hubId} gone`);
  expect(await raw.redis.exists(key(`node:{${hubId}}:lease`))).toBe(0);
  expect(await raw.redis.smembers(key('nodes'))).toEqual([RAW_ID]);
});

cluster('CLUSTER-10: where calls of an instance wait, a node of version 1 is asked for them', async () => {
  await using mixed = await startMixed();
  const { hub, raw, say, mail, key } = mixed;
  await raw.redis.sadd(key(WAITING), RAW_ID);
  const login = logIn(hub);
  expect(await mail()).toContain('["ask",0,"take-over",["u1",');
  await say(wire.takenOver);
  expect((await login).reply).toMatchObject({ resumed: true });
});
