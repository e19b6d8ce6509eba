import { expect, test } from 'vitest';
import { Conversations } from '../../../server/src/agents/conversations.js';
import type { ModelMessage } from '../../../server/src/agents/models/model.js';
import { JsonText } from '../../../server/src/json/json-text.js';

const limits = { maxConversationsPerUser: 3, conversationTtlMs: 1_000 };

function says(text: string): ModelMessage {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

/** A turn of words. */
function words(question: string, answer = 'yes'): ModelMessage[] {
  return [{ role: 'user', text: question }, says(answer)];
}

/** A step with one call and its result. */
function step(content = '1', text = ''): ModelMessage[] {
  const call = { type: 'tool-call', callId: 'c', name: 'f', args: new JsonText('{}') } as const;
  return [
    { role: 'assistant', content: [{ type: 'text', text }, call] },
    { role: 'tool', results: [{ callId: 'c', name: 'f', content, isError: false }] },
  ];
}

function questionsIn(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
}

/** Every tool message follows the message with its calls. */
function expectWhole(messages: readonly ModelMessage[]): void {
  for (const [index, { role }] of messages.entries())
    if (role === 'tool') expect(messages[index - 1]?.role).toBe('assistant');
}

test('a conversation goes on with what its runs said, in their order', () => {
  using conversations = new Conversations(limits);
  expect(conversations.history('ada', 'c')).toEqual([]);
  const first = [{ role: 'user', text: 'one' } as const, ...step(), says('done')];
  conversations.keep('ada', 'c', first);
  conversations.keep('ada', 'c', words('two'));
  expect(conversations.history('ada', 'c')).toEqual([...first, ...words('two')]);
  expect(conversations.history('ada', 'd')).toEqual([]);
});

test('nobody gets a conversation of another user, whatever the names are', () => {
  using conversations = new Conversations(limits);
  conversations.keep('ada', 'c', words('secret'));
  conversations.keep('__proto__', 'constructor', words('odd'));
  expect(conversations.history('eve', 'c')).toEqual([]);
  expect(conversations.history('a', 'dac')).toEqual([]);
  expect(conversations.history('ada","c', '')).toEqual([]);
  expect(questionsIn(conversations.history('__proto__', 'constructor'))).toEqual(['odd']);
});

test('what a later request could not repeat is not kept', () => {
  using conversations = new Conversations(limits);
  const question = { role: 'user', text: 'one' } as const;
  const [unanswered] = step();
  if (unanswered === undefined) throw new Error('there is one');
  conversations.keep('ada', 'c', [question]);
  conversations.keep('ada', 'c', [question, unanswered]);
  expect(conversations.size).toBe(0);
  conversations.keep('ada', 'c', [{ role: 'system', text: 'Be brief.' }, question, ...step(), unanswered]);
  expect(conversations.history('ada', 'c')).toEqual([question, ...step()]);
});

test('a conversation with too many messages loses its oldest turns, as wholes', () => {
  using conversations = new Conversations(limits);
  const turn = (question: string) => [
    { role: 'user', text: 'context' } as const,
    { role: 'user', text: question } as const,
    ...Array.from({ length: 49 }, () => step()).flat(),
    says('done'),
  ];
  for (const question of ['1', '2', '3', '4', '5']) conversations.keep('ada', 'c', turn(question));
  const history = conversations.history('ada', 'c');
  expect(questionsIn(history)).toEqual(['context', '3', 'context', '4', 'context', '5']);
  expectWhole(history);
});

test('a conversation with too many characters loses its oldest turns, as wholes', () => {
  using conversations = new Conversations(limits);
  const turn = (question: string) => [
    { role: 'user', text: question } as const,
    ...step('x'.repeat(60_000)),
    says('ok'),
  ];
  for (const question of ['1', '2', '3', '4', '5', '6']) conversations.keep('ada', 'c', turn(question));
  const history = conversations.history('ada', 'c');
  expect(questionsIn(history)).toEqual(['3', '4', '5', '6']);
  expectWhole(history);
});

test('of a turn that is too long alone the words stay, and earlier turns as far as they fit', () => {
  using conversations = new Conversations(limits);
  conversations.keep('ada', 'c', words('before'));
  conversations.keep('ada', 'c', [
    { role: 'user', text: 'now' },
    ...step('x'.repeat(300_000), 'Let me see. '),
    says('It is 5.'),
  ]);
  expect(conversations.history('ada', 'c')).toEqual([
    ...words('before'),
    { role: 'user', text: 'now' },
    says('Let me see. It is 5.'),
  ]);
});

test('a turn that is too long even in words is left out, and one without words too', () => {
  using conversations = new Conversations(limits);
  conversations.keep('ada', 'c', words('before'));
  conversations.keep('ada', 'c', words('now', 'x'.repeat(300_000)));
  conversations.keep('ada', 'c', [{ role: 'user', text: 'now' }, ...step('x'.repeat(300_000))]);
  expect(conversations.history('ada', 'c')).toEqual(words('before'));
});

test('of too many conversations of a user the one unused for longest goes, and none of another user', () => {
  using conversations = new Conversations(limits);
  conversations.keep('eve', 'c', words('hers'));
  for (const id of ['a', 'b', 'c']) conversations.keep('ada', id, words(id));
  conversations.history('ada', 'a');
  conversations.keep('ada', 'd', words('d'));
  const kept = ['a', 'b', 'c', 'd'].filter((id) => conversations.history('ada', id).length > 0);
  expect(kept).toEqual(['a', 'c', 'd']);
  expect(conversations.history('eve', 'c')).toEqual(words('hers'));
});

test('all conversations together are bounded, and those unused for longest go first', () => {
  using conversations = new Conversations(limits, { maxTotalCharacters: 10_000 });
  for (const user of ['a', 'b', 'c']) conversations.keep(user, 'c', words(user, 'x'.repeat(4_000)));
  expect(['a', 'b', 'c'].map((user) => conversations.history(user, 'c').length)).toEqual([0, 2, 2]);
  conversations.keep('b', 'c', words('again', 'x'.repeat(4_000)));
  expect(['a', 'b', 'c'].map((user) => conversations.history(user, 'c').length)).toEqual([0, 4, 0]);
});

test('a conversation expires when it was not used for its time, and use prolongs it', () => {
  let now = 0;
  using conversations = new Conversations(limits, { now: () => now });
  conversations.keep('ada', 'used', words('1'));
  conversations.keep('ada', 'unused', words('2'));
  now = 999;
  expect(conversations.history('ada', 'used')).toEqual(words('1'));
  now = 1_000;
  expect(conversations.history('ada', 'unused')).toEqual([]);
  expect(conversations.size).toBe(1);
  now = 1_999;
  expect(conversations.history('ada', 'used')).toEqual([]);
  expect(conversations.size).toBe(0);
});

test('an expired conversation begins anew', () => {
  let now = 0;
  using conversations = new Conversations(limits, { now: () => now });
  conversations.keep('ada', 'c', words('1'));
  now = 5_000;
  conversations.keep('ada', 'c', words('2'));
  expect(conversations.history('ada', 'c')).toEqual(words('2'));
});

test('closing forgets everything, and nothing is kept any more; twice is harmless', () => {
  const conversations = new Conversations(limits);
  conversations.keep('ada', 'c', words('1'));
  conversations.close();
  conversations.close();
  expect(conversations.size).toBe(0);
  conversations.keep('ada', 'c', words('2'));
  expect(conversations.history('ada', 'c')).toEqual([]);
});
