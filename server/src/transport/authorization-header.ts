import { MAX_TOKEN_LENGTH, credentialsSchema, type Credentials } from '@remotes-hub/protocol';

/** Longest header that is looked at; tokens are at most 16 384 characters. */
const MAX_LENGTH = 20_000;

/** Credentials of an `Authorization` header: Bearer (RFC 6750) or Basic (RFC 7617, UTF-8); else `undefined`. */
export function readAuthorization(header: string): Credentials | undefined {
  if (header.length > MAX_LENGTH) return undefined;
  const space = header.indexOf(' ');
  const scheme = header.slice(0, space).toLowerCase();
  const rest = header.slice(space + 1).trim();
  if (scheme === 'bearer')
    return rest.length > 0 && rest.length <= MAX_TOKEN_LENGTH ? { token: rest } : undefined;
  return scheme === 'basic' ? parse(splitUserPassword(Buffer.from(rest, 'base64').toString())) : undefined;
}

function splitUserPassword(text: string): unknown {
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function parse(credentials: unknown): Credentials | undefined {
  const parsed = credentialsSchema.safeParse(credentials);
  return parsed.success ? parsed.data : undefined;
}
