import { boolean, constant, constantFrom, nat, oneof, record, type Arbitrary } from 'fast-check';

/** The users of five sessions. */
export const users = ['u1', 'u1', 'u1', 'u2', 'u2'];
const slot = nat({ max: users.length - 1 });
const name = constantFrom('a', 'a#0', '#');
const anyNonce = nat({ max: 3 });
const resumeMs = constantFrom(0, 150, 150, 700);
const answerKind = constantFrom('result', 'error', 'progress');

/** What one of them may do, or the world. */
export const step = oneof(
  { arbitrary: record({ do: constant('connect'), slot, name, resumeMs }), weight: 4 },
  { arbitrary: record({ do: constant('disconnect'), slot, name, drain: boolean() }), weight: 2 },
  {
    arbitrary: record({
      do: constant('call'),
      slot,
      name,
      nonce: anyNonce,
      timeoutMs: constantFrom(undefined, 1, 100, 2_000),
    }),
    weight: 8,
  },
  { arbitrary: record({ do: constant('answer'), slot, pick: nat(), kind: answerKind }), weight: 8 },
  {
    arbitrary: record({ do: constant('spoof'), pick: nat(), by: nat(), kind: answerKind }),
    weight: 2,
  },
  { arbitrary: record({ do: constant('cancel'), slot, nonce: anyNonce }), weight: 2 },
  { arbitrary: record({ do: constant('silence'), slot }), weight: 1 },
  { arbitrary: record({ do: constant('close'), slot, isCallerFirst: boolean() }), weight: 1 },
  { arbitrary: record({ do: constant('lose'), slot, isCallerFirst: boolean() }), weight: 2 },
  { arbitrary: record({ do: constant('return'), slot, pick: nat() }), weight: 3 },
  { arbitrary: record({ do: constant('pass'), ms: constantFrom(1, 99, 300, 999) }), weight: 3 },
  { arbitrary: record({ do: constant('settle') }), weight: 3 },
);

export type Step = typeof step extends Arbitrary<infer T> ? T : never;
