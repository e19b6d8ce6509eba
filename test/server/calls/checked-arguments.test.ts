import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

const checked = {
  name: 'f',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', minLength: 2 }, days: { type: 'integer' } },
    required: ['city'],
    additionalProperties: false,
  },
};

/** A `remote-call` whose members stand in the order in which they are given. */
const call = (nonce: number, ...members: readonly string[]): string =>
  `{"action":"remote-call","body":{${members.join(',')}},"nonce":${nonce}}`;

const name = '"remotename":"x"';
const fn = '"function":"f"';

const right = ['{"city":"Rome"}', ' { "city" : "Rome" , "days" : 2.0 } ', '{"city":"R","city":"Rome"}'];
const wrong: readonly (readonly [string, string])[] = [
  ['{}', 'arguments of f: missing property "city"'],
  ['{"city":"R"}', 'arguments of f: /city: expected at least 2 characters'],
  ['{"city":"Rome","city":"R"}', 'arguments of f: /city: expected at least 2 characters'],
  ['{"city":"Rome","days":1.5}', 'arguments of f: /days: expected integer, received number'],
  ['{"city":"Rome","more":1}', 'arguments of f: unexpected property "more"'],
];

test('arguments are judged alike wherever they stand in the message, and passed on as they were written', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect(), await hub.connect()];
  await server.request('remote-connect', { remotename: 'x', tools: [checked] });
  let nonce = 0;
  for (const args of right) {
    for (const members of orders(args)) {
      caller.send(call((nonce += 1), ...members));
      await server.next('remote-call');
      expect(server.frames.at(-1)).toContain(`"args":${args.trim()}`);
    }
  }
  for (const [args, error] of wrong) {
    for (const members of orders(args)) {
      caller.send(call((nonce += 1), ...members));
      expect(await caller.reply(nonce)).toMatchObject({ code: 'invalid-arguments', executed: 'no', error });
    }
  }
});

test('of arguments that come twice the last are judged', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect(), await hub.connect()];
  await server.request('remote-connect', { remotename: 'x', tools: [checked] });
  const [good, bad] = ['"args":{"city":"Rome"}', '"args":{"city":"R"}'];
  caller.send(call(1, name, fn, good, bad));
  expect(await caller.reply(1)).toMatchObject({ code: 'invalid-arguments' });
  caller.send(call(2, name, fn, bad, good));
  expect(await server.next('remote-call')).toMatchObject({ args: { city: 'Rome' } });
});

test('of a function that is named twice the last is called, and its own schema judges', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect(), await hub.connect()];
  const other = { name: 'g', parameters: { type: 'object', required: ['other'] } };
  await server.request('remote-connect', { remotename: 'x', tools: [checked, other] });
  caller.send(call(1, name, fn, '"args":{"city":"Rome"}', '"function":"g"'));
  expect(await caller.reply(1)).toMatchObject({ code: 'invalid-arguments' });
});

test('of two bodies the last is judged, with arguments or without', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect(), await hub.connect()];
  await server.request('remote-connect', { remotename: 'x', tools: [checked] });
  const good = `{${name},${fn},"args":{"city":"Rome"}}`;
  const bodies = [`{${name},${fn}}`, `{${name},${fn},"args":{"city":"R"}}`, `{"args":{},${name},${fn}}`];
  for (const [nonce, body] of bodies.entries()) {
    caller.send(`{"action":"remote-call","nonce":${nonce},"body":${good},"body":${body}}`);
    expect(await caller.reply(nonce)).toMatchObject({ code: 'invalid-arguments', executed: 'no' });
  }
});

/** Before, between and after the names. */
function orders(args: string): string[][] {
  const written = `"args":${args}`;
  return [
    [name, fn, written],
    [name, written, fn],
    [written, fn, name],
    [fn, name, written, '"timeoutMs":1000'],
  ];
}
