import { errorCodes, executedValues } from '@remotes-hub/protocol';
import * as z from 'zod';
import type { JsonText } from '../json/json-text.js';

/**
 * What nodes say to each other, as arrays of a kind and its fields, beside which a value of others may travel as it was
 * written. Later versions add kinds, or fields at the end: a node leaves out what it does not know.
 */
export interface NodeMessage {
  /** The kind and its fields, JSON. */
  readonly head: readonly unknown[];
  /** Arguments, a result, progress, or the text of a frame. */
  readonly body?: JsonText | undefined;
}

const n = z.int().nonnegative();
const text = z.string();
const rest = z.unknown();

/**
 * A call for a remote of the node that gets it; `n` is the caller's number for it. The arguments are the body. Of a call
 * with a trace context two fields follow: `traceparent`, and `tracestate` or null.
 */
export type CallHead = readonly [
  kind: 'call',
  n: number,
  userId: string,
  remotename: string,
  functionName: string,
  /** 0 for none asked for */
  timeoutMs: number,
  wantsProgress: boolean,
  ...trace: unknown[],
];

/** Checked by hand: it is read for every call. */
export function isCallHead(head: readonly unknown[]): head is CallHead {
  const [kind, number, userId, remotename, functionName, timeoutMs, wantsProgress] = head;
  return (
    kind === 'call' &&
    typeof number === 'number' &&
    typeof userId === 'string' &&
    typeof remotename === 'string' &&
    typeof functionName === 'string' &&
    typeof timeoutMs === 'number' &&
    typeof wantsProgress === 'boolean'
  );
}

/*
 * What becomes of a call is told by its number, read by hand as well: ['result', n, requestId] with the result as body,
 * ['progress', n] with the progress, ['moved', n] when its remote is not on this node and nothing was done; or:
 */

/** How a call failed. */
export const errorHead = z
  .tuple([
    z.literal('error'),
    n,
    /* code */ z.enum(errorCodes).catch('internal-error'),
    /* message */ text,
    /* executed */ z.enum(executedValues),
    /* requestId */ text.nullable(),
    /* retryAfterMs */ n.nullable(),
  ])
  .rest(rest);
/** Nobody waits for a call any more. */
export const cancelHead = z
  .tuple([z.literal('cancel'), n, z.enum(['call-cancelled', 'caller-gone'])])
  .rest(rest);

/** A question to a node, with its fields. */
export const askHead = z.tuple([z.literal('ask'), n, /* about */ text, z.array(z.unknown())]).rest(rest);
/** The answer, or an error with its code. */
export const answerHead = z.tuple([z.literal('answer'), n, z.unknown()]).rest(rest);
export const refusalHead = z
  .tuple([z.literal('refusal'), n, z.enum(errorCodes).catch('internal-error'), text])
  .rest(rest);

/** So many bytes more of the node that gets it were read. */
export const readHead = z.tuple([z.literal('read'), n]).rest(rest);

/** A name of the node that gets it belongs to a connection of another node. */
export const overruledHead = z.tuple([z.literal('overruled'), /* userId */ text, /* id */ text]).rest(rest);

/** A frame for a session, the body: from the node that its instance came from. */
export const frameHead = z.tuple([z.literal('frame'), /* sessionId */ text]).rest(rest);
/** A frame of a session, the body: to the node that its instance came from. */
export const sessionFrameHead = z.tuple([z.literal('session-frame'), /* sessionId */ text]).rest(rest);
/** A session that took over from another node has ended. */
export const sessionEndHead = z
  .tuple([z.literal('session-end'), /* sessionId */ text, /* close code */ n.nullable()])
  .rest(rest);
