import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonText, writeJson } from '../../../server/src/json/json-text.js';
import { MessageText } from '../../../server/src/json/message-text.js';

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/u);

/** A string as JSON, each character as it is or escaped. */
const stringText = fc
  .array(fc.tuple(fc.string({ unit: 'binary', maxLength: 3 }), fc.boolean()), { maxLength: 4 })
  .map((parts) => {
    const texts = parts.map(([part, isEscaped]) =>
      isEscaped ? escaped(part) : JSON.stringify(part).slice(1, -1),
    );
    return `"${texts.join('')}"`;
  });

const nameText = fc.oneof(
  stringText,
  fc.constantFrom(
    '"body"',
    String.raw`"b\u006fdy"`,
    '"nonce"',
    '"args"',
    '"action"',
    '"__proto__"',
    '""',
    String.raw`"\\"`,
  ),
);

const leaf = fc.oneof(
  stringText,
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1e400',
    '-2.5E-3',
    '9007199254740993',
    'true',
    'false',
    'null',
    '[]',
    '{}',
    '{ }',
  ),
);

function objectOf(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const member = fc.tuple(space, nameText, space, space, value, space);
  return fc
    .array(member, { maxLength: 4 })
    .map(
      (members) =>
        `{${members.map(([a, name, b, c, text, d]) => `${a}${name}${b}:${c}${text}${d}`).join(',')}}`,
    );
}

const { value: valueText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf,
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 3 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    objectOf(tie('value')),
  ),
}));

const messageText = fc.tuple(space, objectOf(valueText), space).map((parts) => parts.join(''));

test('the text of each member is the text of its value, and of two with one name the last', () => {
  fc.assert(
    fc.property(messageText, (text) => {
      const value = asObject(JSON.parse(text));
      for (const message of waysToRead(text)) expectMembersOf(message, value);
    }),
    { numRuns: 1_000 },
  );
});

function expectMembersOf(message: MessageText, value: Record<string, unknown>): void {
  expect(message.parse()).toEqual(value);
  for (const [name, member] of Object.entries(value)) {
    expect(message.member(name)?.parse()).toStrictEqual(member);
  }
  expect(message.member('no such member')).toBeUndefined();
  expect(message.member('toString')).toBeUndefined();
  const body = Object.hasOwn(value, 'body') ? value['body'] : undefined;
  if (!isObject(body)) return expect(message.bodyMember('args')).toBeUndefined();
  for (const [name, member] of Object.entries(body)) {
    expect(message.bodyMember(name)?.parse()).toStrictEqual(member);
  }
  expect(message.bodyMember('args') === undefined).toBe(!Object.hasOwn(body, 'args'));
}

test('the text of a member is exact: without the space around it, with the space inside', () => {
  fc.assert(
    fc.property(space, valueText, space, fc.boolean(), (before, text, after, isInBody) => {
      const inner = `{"a":[],"args" :${before}${text}${after},"b":"}"}`;
      for (const message of waysToRead(isInBody ? `{"x":1,"body":${inner}}` : inner)) {
        expect((isInBody ? message.bodyMember('args') : message.member('args'))?.text).toBe(text);
      }
    }),
    { numRuns: 500 },
  );
});

test('the depth is that of the deepest value, duplicates and all', () => {
  const depths = (text: string): number[] => waysToRead(text).map(({ depth }) => depth);
  fc.assert(
    fc.property(messageText, (text) => {
      expect(new Set(depths(text))).toEqual(new Set([bracketDepth(text)]));
    }),
    { numRuns: 1_000 },
  );
  expect(depths('{}')).toEqual([1, 1, 1]);
  expect(depths('{"a":[{}]}')).toEqual([3, 3, 3]);
  expect(depths('{"body":{"a":[[]]},"body":1}')).toEqual([4, 4, 4]);
  expect(depths('{"a":"[[[","b":"\\"[[["}')).toEqual([1, 1, 1]);
});

test('whatever garbage comes, reading ends, and what JSON.parse takes it takes', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ':',
    ',',
    ' ',
    '\n',
    '"body":{',
    '"a"',
    '1',
    'null',
    '\0',
    '\uD800',
    'é',
  );
  const garbage = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(garbage, garbage, messageText, fc.nat(), (first, second, text, at) => {
      const cut = at % (text.length + 1);
      for (const candidate of [
        first,
        `{${first}`,
        text.slice(0, cut),
        text.slice(0, cut) + second + text.slice(cut),
      ]) {
        const message = MessageText.scan(candidate);
        message?.member('body');
        if (isObjectText(candidate)) expect(message?.parse()).toEqual(JSON.parse(candidate));
        else if (message !== undefined) expect(() => message.parse()).toThrow(SyntaxError);
        // as bytes, exactly what is JSON is known to be; a lone surrogate has no bytes
        const frame = Buffer.from(candidate);
        expect(MessageText.read(frame)?.isWellFormed === true).toBe(isObjectText(frame.toString()));
      }
    }),
    { numRuns: 1_500 },
  );
});

test('what is no object is none, however it begins', () => {
  for (const text of [
    '',
    ' ',
    '[]',
    '"{}"',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":{}',
    '{"a":"}',
    '{"a":}',
    '{,}',
    '{a:1}',
  ]) {
    expect([text, MessageText.scan(text)]).toEqual([text, undefined]);
  }
});

test('scanning takes time in proportion to the text', () => {
  for (const text of [
    `{"a":"${'\\\\'.repeat(1_000_000)}"}`,
    `{"a":"${'\\"'.repeat(1_000_000)}"}`,
    `{"a":${'['.repeat(2_000_000)}`,
    `{"body":{${'"a":1,'.repeat(300_000)}"b":2}}`,
    `{"a":${' '.repeat(2_000_000)}1}`,
  ]) {
    const frame = Buffer.from(text);
    const started = performance.now();
    MessageText.scan(text)?.bodyMember('none');
    MessageText.read(frame)?.bodyMember('none');
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});

test('fields are written in order, texts as they are, and undefined ones are left out', () => {
  const text = new JsonText('{ "__proto__": 1.0 }');
  expect(writeJson({ b: undefined, result: text, a: 'é"', 'k"': [1, null], n: null })).toBe(
    '{"result":{ "__proto__": 1.0 },"a":"é\\"","k\\"":[1,null],"n":null}',
  );
  expect(writeJson({})).toBe('{}');
  expect(JsonText.of(undefined).text).toBe('null');
  expect(Object.keys(new JsonText('{"__proto__":1}').parse() ?? {})).toEqual(['__proto__']);
});

/** A message as a frame of text gives it, as one that is read as bytes gives it, and as text of a model gives it. */
function waysToRead(text: string): MessageText[] {
  const long = `${text.slice(0, -1)}${' '.repeat(33_000)}}`;
  const ways = [
    MessageText.scan(text),
    MessageText.read(Buffer.from(text)),
    MessageText.read(Buffer.from(text.endsWith('}') ? long : text)),
  ];
  return ways.map((message) => {
    if (message === undefined) throw new Error(`not read: ${text}`);
    return message;
  });
}

function escaped(text: string): string {
  return [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new Error('no object');
  return value;
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Depth of well-formed JSON, by its brackets outside strings. */
function bracketDepth(text: string): number {
  let open = 0;
  let deepest = 0;
  for (const [bracket] of text.replaceAll(/"(?:[^"\\]|\\.)*"/gsu, '').matchAll(/[[\]{}]/gu)) {
    open += bracket === '{' || bracket === '[' ? 1 : -1;
    deepest = Math.max(deepest, open);
  }
  return deepest;
}
