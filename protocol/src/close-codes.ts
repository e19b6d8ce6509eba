/**
 * Codes with which a hub closes a connection (README.md, "Close codes"). 1000 to 1015 are those of
 * RFC 6455, 4000 and up are the hub's own.
 */
export const closeCodes = {
  /** The hub is going away; come back later. */
  goingAway: 1001,
  /** A frame that breaks RFC 6455: unmasked, badly fragmented, with reserved bits. */
  protocolError: 1002,
  /** Too many binary frames; the wire is text. */
  unsupportedData: 1003,
  /** A text frame that is not UTF-8. */
  invalidPayload: 1007,
  /** A message in too many fragments. */
  policyViolation: 1008,
  /** A frame above the limit. */
  messageTooBig: 1009,
  /** The rules of the wire were broken in a way no error reply can mend. */
  protocolAbuse: 4400,
  /** Not authenticated in time, too many failed attempts, or the credentials have expired. */
  notAuthenticated: 4401,
  /** The peer reads more slowly than it is sent to, and its queue is full. */
  slowConsumer: 4408,
  /** A later session of the same instance took over. */
  replaced: 4409,
  /** More messages or sessions than allowed. */
  tooManyMessages: 4429,
} as const;

/** One of the codes of {@link closeCodes}. */
export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];
