import { expect, test } from 'vitest';
import { readBatch, writeBatch, EncodedMessage } from '../../server/src/cluster/message-batch.js';
import { instanceKeyOf } from '../../server/src/sessions/instance-key.js';
import { instanceId } from '../server/calls/resuming-fixtures.js';
import { redisNote, redisPath } from '../support/redis.js';
import { EVENTS, REMOTES, SPECS, TOOLS, numbered, startMixed } from './mixed-versions.js';
import { RAW_ID } from './raw-node.js';
import { FROM_HUB, FROM_RAW, INSTANCE_KEY, names, wire } from './wire-version-1.js';

const cluster = test.skipIf(redisPath === undefined);

test.each(Object.entries(wire))('CLUSTER-10: wire between nodes, version 1: %s', (_name, message) => {
  const bytes = Buffer.from(FROM_RAW + message, 'latin1');
  const read = readBatch(bytes);
  if (read === undefined) throw new Error('it cannot be read');
  expect(read.sender).toBe(RAW_ID);
  expect(read.messages.length).toBe(1);
  const written = writeBatch(
    RAW_ID,
    read.messages.map((one) => new EncodedMessage(one)),
  );
  expect(written.toString('latin1')).toBe(FROM_RAW + message);
});

test('CLUSTER-10: an instance is known among nodes by the same key in every version', () => {
  expect(instanceKeyOf(instanceId)).toBe(INSTANCE_KEY);
});

cluster(`CLUSTER-10: a remote of a node of version 1 is listed and called${redisNote}`, async () => {
  await using mixed = await startMixed();
  const { hub, say, mail } = mixed;
  await mixed.register();
  const session = await hub.connect();
  expect(await session.remotes()).toEqual(['x']);
  expect(session.frames.some((frame) => frame.includes(`{"remotename":"x","tools":${SPECS}}`))).toBe(true);

  const call = (n: number): void => {
    session.send(
      `{"action":"remote-call","nonce":${n},"body":{"remotename":"x","function":"f","args":{"n":1e400}}}`,
    );
  };
  call(0);
  expect(await mail()).toBe(FROM_HUB + wire.call);
  await say(wire.result);
  await session.reply(0);
  expect(session.frames.at(-1)).toBe('{"result":{"big":9007199254740993},"nonce":0}');
  call(1);
  expect(await mail()).toBe(FROM_HUB + numbered(wire.call, 1));
  await say(numbered(wire.error, 1));
  expect(await session.reply(1)).toEqual({
    error: 'no luck',
    code: 'function-failed',
    executed: 'no',
    retryable: false,
    requestId: 'x#0',
    nonce: 1,
  });
  call(2);
  await mail();
  await say(numbered(wire.errorToWait, 2));
  expect(await session.reply(2)).toMatchObject({ code: 'rate-limited', retryAfterMs: 250, retryable: true });
  call(3);
  await mail();
  expect(await session.request('remote-call-cancel', { nonce: 4 })).toMatchObject({ cancelled: 0 });
  session.send({ action: 'remote-call-cancel', nonce: 'c', body: { nonce: 3 } });
  expect(await mail()).toBe(FROM_HUB + numbered(wire.cancel, 3));
  await say(numbered(wire.error, 3));
  expect(await session.reply('c')).toMatchObject({ cancelled: 1 });
  call(4);
  await mail();
  await mixed.raw.redis.hdel(mixed.key(REMOTES), '"x"');
  await say(numbered(wire.moved, 4));
  expect(await session.reply(4)).toMatchObject({ code: 'remote-not-connected', executed: 'no' });
});

cluster(
  'CLUSTER-10: calls with progress, a timeout and a trace context lead to a node of version 1',
  async () => {
    await using mixed = await startMixed();
    const { hub, say, mail } = mixed;
    await mixed.register();
    const session = await hub.connect({ v1: true });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const reply = session.call('x', 'f', {}, { timeoutMs: 1_500, traceparent });
    expect(await mail()).toBe(FROM_HUB + wire.tracedCall);
    await say(wire.progress);
    expect(await session.next('remote-call-progress')).toMatchObject({ progress: 'half', nonce: 't1' });
    await say(wire.result);
    expect(await reply).toHaveProperty('result');

    void session.call('x', 'f', {}).catch(() => undefined);
    await mail();
    session.socket.terminate();
    expect(await mail()).toBe(FROM_HUB + numbered(wire.callerGone, 1));
  },
);

cluster('CLUSTER-10: a node of version 1 finds, calls and cancels the remotes of a hub', async () => {
  await using mixed = await startMixed();
  const { hub, hubId, raw, say, mail, key } = mixed;
  const session = await hub.connect({ v1: true });
  await raw.listen(EVENTS);
  await session.request('remote-connect', {
    remotename: 'x',
    tools: [{ name: 'f', timeoutMs: 500 }, { name: 'g' }],
  });
  const entry = await raw.redis.hget(key(REMOTES), '"x"');
  expect(entry?.replace(hubId, 'HUB')).toMatch(/^HUB [\da-f-]{36} \d{16} 43 - \[\["f",500\]\]$/u);
  const connection = entry?.split(' ')[1] ?? '';
  expect(await raw.redis.hgetall(key(TOOLS))).toEqual({
    [connection]: '[{"name":"f","timeoutMs":500},{"name":"g"}]',
  });
  expect(await raw.redis.smembers(key(`node:{${hubId}}:users`))).toEqual(['u1']);
  expect(await raw.next(EVENTS)).toBe(
    `["${hubId}","{\\"action\\":\\"remote-connected\\",\\"body\\":{\\"remotename\\":\\"x\\"}}"]`,
  );

  await say(wire.call);
  expect(await session.next('remote-call')).toMatchObject({
    requestId: 'x#0',
    function: 'f',
    timeoutMs: 500,
  });
  expect(session.frames.at(-1)).toContain('"args":{"n":1e400}');
  session.send('{"action":"remote-call-result","requestId":"x#0","result":{"big":9007199254740993}}');
  expect(await mail()).toBe(FROM_HUB + wire.identifiedResult);

  await say(wire.tracedCall);
  const traced = await session.next('remote-call');
  expect(traced).toMatchObject({ requestId: 'x#1', timeoutMs: 1_500 });
  expect(traced).toHaveProperty('traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
  session.send({ action: 'remote-call-progress', requestId: 'x#1', progress: 'half' });
  expect(await mail()).toBe(FROM_HUB + wire.progress);
});

cluster(
  'CLUSTER-10: errors, cancellation and remotes that are not there are told to a node of version 1',
  async () => {
    await using mixed = await startMixed();
    const { hub, say, mail } = mixed;
    await say(wire.call);
    expect(await mail()).toBe(FROM_HUB + wire.moved);
    const session = await hub.connect({ v1: true });
    await session.serve('x', ['f']);
    await say(wire.call);
    const { requestId } = await session.next('remote-call');
    session.send({ action: 'remote-call-result', requestId, error: 'no luck', executed: 'no' });
    expect(await mail()).toBe(FROM_HUB + wire.error);
    await say(wire.call);
    await session.next('remote-call');
    await say(wire.cancel);
    expect(await session.next('remote-call-cancel')).toMatchObject({
      requestId: 'x#1',
      reason: 'call-cancelled',
    });
    expect(await mail()).toContain('["error",0,"call-cancelled",');
    await say(wire.call);
    await session.next('remote-call');
    await say(wire.callerGone);
    expect(await session.next('remote-call-cancel')).toMatchObject({
      requestId: 'x#2',
      reason: 'caller-gone',
    });
  },
);

cluster('CLUSTER-10: a node of version 1 is told when much of it was read', async () => {
  await using mixed = await startMixed();
  const session = await mixed.hub.connect();
  await session.serve('x', ['f']);
  const head = wire.call.slice(0, -'{"n":1e400}'.length).replace('\x0b\x00\x00\x00[', '\x00\x00\x10\x00[');
  await mixed.say(`${head}{"a":"${'x'.repeat(1024 * 1024 - 8)}"}`);
  const told = await mixed.raw.mail('"read"');
  expect(told.replace(mixed.hubId, names.hub)).toBe(FROM_HUB + wire.read);
});

cluster(
  'CLUSTER-10: fields at the end, kinds, questions and codes of later versions do no harm',
  async () => {
    await using mixed = await startMixed();
    const { hub, say, mail } = mixed;
    await mixed.register();
    const session = await hub.connect();
    const call = session.call('x', 'f');
    await mail();
    await say(wire.laterKind + wire.laterResult);
    expect(await call).toMatchObject({ result: 1 });
    const failing = session.call('x', 'f');
    await mail();
    await say(numbered(wire.laterError, 1));
    expect(await failing).toMatchObject({
      code: 'internal-error',
      error: 'what happened',
      executed: 'yes',
      requestId: 'x#0',
    });
    await session.request('remote-disconnect', { remotename: 'nobody' });
    await say(wire.laterQuestion);
    expect(await mail()).toBe(FROM_HUB + wire.unknownQuestion);
    await say(wire.laterProbe);
    expect(await mail()).toBe(FROM_HUB + wire.no);
    await mixed.raw.redis.hdel(mixed.key(REMOTES), '"x"');
    await session.serve('x', ['f']);
    await say(wire.laterCall);
    await session.answer({ big: 1 });
    expect(await mail()).toContain('["result",0,"x#0"]{"big":1}');
    const troubles = [
      'unreadable message of a node',
      'message of a node failed',
      'question of a node failed',
    ];
    expect(hub.logs.filter(({ msg }) => troubles.includes(String(msg)))).toEqual([]);
  },
);
