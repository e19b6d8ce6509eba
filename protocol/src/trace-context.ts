import * as z from 'zod';
import { MAX_TRACESTATE_LENGTH } from './limits.js';

/**
 * Where a call belongs in a trace, as W3C Trace Context writes it (https://www.w3.org/TR/trace-context/): version 00
 * alone, and ids that are not all zeros.
 */
export const traceparentPattern = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/u;

/** What tracing systems add to it: printable ASCII. What it says is theirs. */
const tracestatePattern = new RegExp(`^[\\x20-\\x7e]{1,${MAX_TRACESTATE_LENGTH}}$`, 'u');

/** `traceparent` of a call; one that is malformed counts as none, so that tracing never fails a call. */
export const traceparentSchema = z.string().regex(traceparentPattern).optional().catch(undefined);

/** `tracestate` of a call; one that is malformed or too long counts as none. Without `traceparent` it says nothing. */
export const tracestateSchema = z.string().regex(tracestatePattern).optional().catch(undefined);
