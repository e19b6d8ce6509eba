/**
 * Numbers both ends agree on. Sizes are bytes of UTF-8 unless the name says otherwise, times milliseconds.
 * A hub may set stricter ones in its configuration (server/README.md, "Limits"), never looser than the
 * schemas of this package allow.
 */

/** How long a call may stay unanswered when nobody asks for another time (seed, "Wire protocol"). */
export const REMOTE_CALL_TIMEOUT_MS = 30_000;

/** The longest timeout that a caller or a function spec may ask for. */
export const MAX_CALL_TIMEOUT_MS = 600_000;

/** Largest frame in either direction. A larger one closes the connection with 1009. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Deepest nesting of objects and arrays in a message, in `args` and in `result`; the outermost counts 1. */
export const MAX_JSON_DEPTH = 128;

/** Longest text of a nonce, in bytes of its JSON text. */
export const MAX_NONCE_BYTES = 256;

/** Longest name of a remote or a function, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 128;

/** Longest description of a function, in UTF-16 code units. */
export const MAX_DESCRIPTION_LENGTH = 8_192;

/** Most functions of one remote. */
export const MAX_FUNCTIONS_PER_REMOTE = 1_024;

/** Longest `tools` text of one remote, in bytes of its JSON text. */
export const MAX_TOOLS_BYTES = 1024 * 1024;

/** Longest JSON text of one function's `parameters` or `result` schema, in bytes. */
export const MAX_SCHEMA_BYTES = 64 * 1024;

/** Longest error text that a hub passes on from a function, in UTF-16 code units; the rest is cut. */
export const MAX_ERROR_LENGTH = 4_096;

/** Longest user id, user name, token and password, in UTF-16 code units. */
export const MAX_USER_ID_LENGTH = 256;
export const MAX_TOKEN_LENGTH = 16_384;
export const MAX_PASSWORD_LENGTH = 1_024;

/** A session's `instanceId`, in characters. */
export const MIN_INSTANCE_ID_LENGTH = 16;
export const MAX_INSTANCE_ID_LENGTH = 128;

/** The longest `resumeMs` of a remote, in milliseconds. */
export const MAX_RESUME_MS = 30_000;

/** Longest instruction of a prompt, in UTF-16 code units. */
export const MAX_INSTRUCTION_LENGTH = 100_000;

/** Longest `tracestate` of a call, in characters. */
export const MAX_TRACESTATE_LENGTH = 512;

/** How long before its expiry a session is told so, by the event `session-expiring`. */
export const SESSION_EXPIRING_NOTICE_MS = 60_000;

/** The WebSocket subprotocol with deadlines, cancellation and progress (README.md, "Subprotocol"). */
export const SUBPROTOCOL = 'remotes.v1';
