import * as fc from 'fast-check';

const names = ['x', 'y', '__proto__', 'a#1'];

const name = fc.constantFrom(...names);
const functionName = fc.constantFrom('f', 'g', 'constructor');
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  name,
  fc.constantFrom(0, -1, 1e308, null, true, [], {}),
);
const schema = fc.constantFrom(
  { type: 'object' },
  {},
  { type: 'array' },
  { $ref: '#' },
  { type: 'object', properties: { a: { type: 'string' } } },
  { pattern: '(' },
  null,
);
const tool = fc.record(
  {
    name: functionName,
    description: fc.constant('d'),
    parameters: schema,
    result: schema,
    timeoutMs: fc.constantFrom(1, 50),
  },
  { requiredKeys: ['name', 'description'] },
);
const goodTools = [
  { name: 'f', description: 'd', parameters: { type: 'object' } },
  { name: 'g', description: 'd', parameters: { type: 'object', properties: { a: { type: 'string' } } } },
];
const tools = fc.oneof({ arbitrary: fc.constant(goodTools), weight: 2 }, fc.array(tool, { maxLength: 2 }));
const remoteConnect = fc.record({ remotename: name, tools });
const someRequestId = fc.tuple(fc.constantFrom(...names), fc.nat(5)).map(([remote, n]) => `${remote}#${n}`);
const nonce = fc.oneof(fc.nat(20), value);

function request(action: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.record({ action: fc.constant(action), nonce, body }, { requiredKeys: ['action', 'body'] });
}

/** Messages that are right, or nearly so. */
const message = fc.oneof(
  { arbitrary: request('remote-connect', remoteConnect), weight: 6 },
  request('remote-disconnect', fc.record({ remotename: name, drain: fc.boolean() })),
  request('remote-list', value),
  {
    arbitrary: request(
      'remote-call',
      fc.record({
        remotename: name,
        function: functionName,
        args: fc.dictionary(fc.constantFrom('a', '__proto__'), value),
        timeoutMs: fc.constantFrom(1, 20, 1_000),
      }),
    ),
    weight: 12,
  },
  request('remote-call-cancel', fc.record({ nonce })),
  {
    arbitrary: fc.record(
      {
        action: fc.constant('remote-call-result'),
        requestId: someRequestId,
        result: value,
        error: fc.constantFrom('e', null),
      },
      { requiredKeys: ['action', 'requestId'] },
    ),
    weight: 5,
  },
  fc.record({ action: fc.constant('remote-call-progress'), requestId: someRequestId, progress: value }),
  request(
    'send-agent-prompt',
    fc.record({
      agentId: fc.constantFrom('a', 1),
      instruction: fc.constantFrom('use x', 'y'),
      options: fc.oneof(fc.constant({ remotes: ['x', 'y'] }), value),
    }),
  ),
  request('run-cancel', fc.record({ runId: name })),
  request('agent-list', value),
  request('ping', value),
  request('authenticate', fc.record({ token: fc.constantFrom('x', '') })),
  fc.record({ action: fc.oneof(name, value), nonce: value, body: value }, { requiredKeys: [] }),
);

/** The same text with a piece cut out, doubled, replaced or put elsewhere. */
const mutated = fc
  .tuple(
    message,
    fc.nat(),
    fc.nat(12),
    fc.constantFrom('', '"', '{', '}', '[', '\\', '\0', ':', ',', '1e', '\uD800', '\\u00'),
  )
  .map(([value_, at, length, piece]) => {
    const text = JSON.stringify(value_);
    const start = at % (text.length + 1);
    return text.slice(0, start) + piece + text.slice(start + (length % 3 === 0 ? 0 : length));
  });

/** Text of one frame: a message that is right or nearly so, one that was spoilt, other JSON, anything. */
export const frameText = fc.oneof(
  { arbitrary: message.map((value_) => JSON.stringify(value_)), weight: 8 },
  { arbitrary: mutated, weight: 3 },
  { arbitrary: fc.json({ maxDepth: 4 }), weight: 1 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 60 }), weight: 1 },
);
