import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import type { TestSession } from '../../support/session.js';

/** JSON texts that a parser and a writer would not give back as they were. */
const texts: Record<string, string> = {
  'an integer above 2^53': '{"n":9007199254740993,"m":-9007199254740993}',
  'a number above the largest double': '{"n":1e400,"m":-1e999}',
  'a number below the smallest double': '{"n":1e-400,"zero":-0}',
  'numbers with their spelling': '{"a":1.50,"b":1.0,"c":1E+2,"d":0.1e-00,"e":100000000000000000000000}',
  'many digits': `{"n":3.${'14159'.repeat(200)}}`,
  'own __proto__ and constructor keys': '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}',
  'duplicate keys': '{"a":1,"a":2,"\\u0061":3,"a":{"b":1,"b":2}}',
  'integer-like keys in their order': '{"b":1,"2":2,"a":3,"1":4}',
  'odd spacing': '{ "a" :\t[ 1 ,\r\n 2 ,{ } , [ ]\n] }',
  'escapes as they were written': '{"a":"\\u0041\\/\\b\\f\\u000a\\u2028\\"","\\u006b":"\\\\"}',
  'raw characters': '{"a":"é\u2028\u2029\u007f😀\ufeff\ufffe"}',
  'lone surrogates in escapes': '{"a":"\\ud800","\\udc00\\uDBFF":"\\ud83d\\u0000"}',
  'brackets and quotes in strings': '{"a":"}]{[\\",:","}":"\\\\\\""}',
  'deep but allowed nesting': `{"a":${'[{"b":'.repeat(62)}null${'}]'.repeat(62)}}`,
  'an empty key': '{"":{"":""}}',
};

/** The raw frame with this start. */
function frameOf(session: TestSession, start: string): string | undefined {
  return session.frames.find((frame) => frame.startsWith(start));
}

test.each(Object.entries(texts))('CALL-11: %s travel as they were sent, both ways', async (_what, text) => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  await server.serve('x', ['f']);

  caller.send(`{"action":"remote-call","nonce":"c","body":{"function":"f","args":${text},"remotename":"x"}}`);
  await server.next('remote-call');
  expect(frameOf(server, '{"action":"remote-call"')).toBe(
    `{"action":"remote-call","requestId":"x#0","function":"f","args":${text}}`,
  );
  server.send(` { "result" : ${text} , "requestId":"x#0", "action":"remote-call-result"}`);
  await caller.reply('c');
  expect(frameOf(caller, '{"result"')).toBe(`{"result":${text},"nonce":"c"}`);
});

// long ones are passed on as the bytes that they came in, and what stands around them in the frame is cut off by bytes
test.each([
  ['ASCII', `{"a":"${'x'.repeat(40_000)}"}`, 'x'],
  ['two and four bytes a character', `{"é":"${'é😀'.repeat(8_000)}"}`, 'é😀'],
  ['with space around', ` \t{ "a" : "${'é'.repeat(32_768)}" }\n `, 'x'],
  ['just long enough', `"${'é'.repeat(16_383)}"`, 'é'],
  ['just not long enough', `"${'é'.repeat(16_382)}"`, 'é'],
])('CALL-11: long values travel as they were sent, both ways: %s', async (_what, text, remotename) => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  await server.serve(remotename, ['f']);

  const args = text.trim().startsWith('{') ? text.trim() : `{"a":${text}}`;
  const name = JSON.stringify(remotename);
  caller.send(
    `{"body":{"remotename":${name},"function":"f","args": ${args} },"nonce":"é😀","action":"remote-call"}`,
  );
  await server.next('remote-call');
  const requestId = JSON.stringify(`${remotename}#0`);
  expect(frameOf(server, '{"action":"remote-call"')).toBe(
    `{"action":"remote-call","requestId":${requestId},"function":"f","args":${args}}`,
  );
  server.send(`{"result":${text},"requestId":${requestId},"action":"remote-call-result"}`);
  await caller.reply('é😀');
  expect(frameOf(caller, '{"result"')).toBe(`{"result":${text.trim()},"nonce":"é😀"}`);
});

test.each(['1.50', '1e400', '-0', '"\\u0041"', '"\ud83d\ude00"', 'null', '[ 1 ,2]', '9007199254740993'])(
  'CALL-11: the result %s travels as it was sent, through a schema too',
  async (text) => {
    await using hub = await startTestHub();
    const server = await hub.connect();
    const tools = [{ name: 'f', result: { type: ['number', 'string', 'null', 'array'] } }];
    await server.request('remote-connect', { remotename: 'x', tools });

    server.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f' } });
    await server.next('remote-call');
    server.send(`{"action":"remote-call-result","requestId":"x#0","result":${text}}`);
    await server.reply('c');
    expect(frameOf(server, '{"result"')).toBe(`{"result":${text},"nonce":"c"}`);
  },
);

test('CALL-11: arguments and results of 1 MiB travel whole, both ways', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  const parameters = { type: 'object', properties: { list: { type: 'array' }, text: { type: 'string' } } };
  await server.request('remote-connect', { remotename: 'x', tools: [{ name: 'f', parameters }] });
  const item = '{"n":1.0,"é":"\\u00e9\\n"}';
  const large = [
    `{"text":"${'€'.repeat(350_000)}"}`,
    `{"list":[${Array.from({ length: 40_000 }, () => item).join(', ')}]}`,
  ];

  for (const [n, text] of large.entries()) {
    expect(Buffer.byteLength(text)).toBeGreaterThanOrEqual(1_048_576);
    caller.send(
      `{"action":"remote-call","nonce":${n},"body":{"remotename":"x","function":"f","args":${text}}}`,
    );
    await server.next('remote-call');
    const forwarded = `{"action":"remote-call","requestId":"x#${n}","function":"f","args":${text}}`;
    expect(server.frames.at(-1) === forwarded).toBe(true); // no diff of a megabyte
    server.send(`{"action":"remote-call-result","requestId":"x#${n}","result":${text}}`);
    await caller.reply(n);
    expect(caller.frames.at(-1) === `{"result":${text},"nonce":${n}}`).toBe(true);
  }
});

test('CALL-11: of members with one name the last counts, in the envelope and in the body', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  await server.serve('x', ['f']);

  server.send(
    '{"action":"ping","body":{"args":{"a":0}},"nonce":1,"action":"remote-call","nonce":2,' +
      '"b\\u006fdy":{"remotename":"nobody","args":{"a":1},"function":"f","\\u0061rgs":{"a": 2},"remotename":"x"}}',
  );
  await server.next('remote-call');
  expect(server.frames.at(-1)).toBe(
    '{"action":"remote-call","requestId":"x#0","function":"f","args":{"a": 2}}',
  );
  server.send(
    '{"action":"remote-call-result","requestId":"y","requestId":"x#0","result":1,"res\\u0075lt":2.0}',
  );
  await server.reply(2);
  expect(server.frames.at(-1)).toBe('{"result":2.0,"nonce":2}');
});

test('CALL-11: progress travels as it was sent', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect({ v1: true });
  const caller = await hub.connect({ v1: true });
  await server.serve('x', ['f']);

  caller.send('{"action":"remote-call","nonce":[1.0, "\\u0041"],"body":{"remotename":"x","function":"f"}}');
  await server.next('remote-call');
  server.send('{"action":"remote-call-progress","requestId":"x#0","progress":{ "n":1e400,"n":1.50 }}');
  await caller.next('remote-call-progress');
  expect(caller.frames.at(-1)).toBe(
    '{"action":"remote-call-progress","nonce":[1.0, "\\u0041"],"progress":{ "n":1e400,"n":1.50 }}',
  );
});
