import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * What one check of a password costs: scrypt's N as a power of two, its block size r and its parallelism p.
 * It takes 128 * N * r bytes of memory and time in proportion to N * r * p.
 */
export interface PasswordCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** The cost of new hashes: 32 MiB, and about 0.3 s of one core. */
export const defaultPasswordCost: PasswordCost = { ln: 15, r: 8, p: 3 };

interface PasswordHash {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MAX_PART_BYTES = 64;

// A hash comes from a file: it may ask for 128 MiB and ten times the work of a default one, no more.
const MAX_MEMORY_BYTES = 128 * 1024 * 1024;
const MAX_WORK = 10 * 2 ** 15 * 8 * 3;
const MIN_LN = 10;

const hashPattern =
  /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/]{1,128})\$([A-Za-z0-9+/]{1,128})$/;

function isAllowedCost({ ln, r, p }: PasswordCost): boolean {
  return ln >= MIN_LN && 128 * 2 ** ln * r <= MAX_MEMORY_BYTES && 2 ** ln * r * p <= MAX_WORK;
}

function encodePart(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function decodePart(text: string, minimumBytes: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const isCanonical = encodePart(bytes) === text;
  return isCanonical && bytes.length >= minimumBytes && bytes.length <= MAX_PART_BYTES ? bytes : undefined;
}

function formatHash({ cost, salt, key }: PasswordHash): string {
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${encodePart(salt)}$${encodePart(key)}`;
}

function parseHash(text: string): PasswordHash | undefined {
  const [, ln, r, p, saltText = '', keyText = ''] = hashPattern.exec(text) ?? [];
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const salt = decodePart(saltText, SALT_BYTES);
  const key = decodePart(keyText, KEY_BYTES);
  return isAllowedCost(cost) && salt !== undefined && key !== undefined ? { cost, salt, key } : undefined;
}

/**
 * Passwords are compared in Unicode's form NFC (RFC 8265), so that it does not matter how a keyboard composes
 * an accent. Nothing else is folded: case, width and blanks count.
 */
function deriveKey(
  password: string,
  salt: Buffer,
  { ln, r, p }: PasswordCost,
  bytes: number,
): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 128 * r * (2 ** ln + p + 2) + 1024 };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, bytes, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** Whether the text is a hash that {@link verifyPassword} takes. */
export function isPasswordHash(text: string): boolean {
  return parseHash(text) !== undefined;
}

/**
 * The cost that a hash names.
 * @throws {RangeError} when the text is no hash; the error does not hold it
 */
export function passwordCostOf(hash: string): PasswordCost {
  return parsedHash(hash).cost;
}

function parsedHash(text: string): PasswordHash {
  const hash = parseHash(text);
  if (hash === undefined)
    throw new RangeError('not a password hash: expected $scrypt$ln=..,r=..,p=..$salt$hash');
  return hash;
}

/**
 * Makes the hash of a password: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, with a random salt of 16 bytes and a
 * hash of 32, both in base64 without padding. The text says all that is needed to check a password, so the
 * cost of new hashes may rise while old ones stay valid.
 * @throws {RangeError} when the cost is out of bounds
 */
export async function hashPassword(password: string, cost = defaultPasswordCost): Promise<string> {
  if (!isAllowedCost(cost)) throw new RangeError('the cost of a password hash is out of bounds');
  const salt = randomBytes(SALT_BYTES);
  return formatHash({ cost, salt, key: await deriveKey(password, salt, cost, KEY_BYTES) });
}

/** A hash that no password fits, of the given cost: checking it takes the time that a real one takes. */
export function decoyHash(cost: PasswordCost): string {
  return formatHash({ cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) });
}

/**
 * Whether the hash is that of the password. The time does not tell how much of it was right.
 * @throws {RangeError} when the text is no hash; the error does not hold it
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const { cost, salt, key } = parsedHash(hash);
  return timingSafeEqual(await deriveKey(password, salt, cost, key.length), key);
}
