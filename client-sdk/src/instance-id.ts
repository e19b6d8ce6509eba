/** Where a page keeps the ids of its connections, from one load to the next. */
const STORAGE_KEY = 'remotes-hub:instances';

/** Most ids that a page keeps. */
const MAX_KEPT = 8;

/** An id that no other connection uses now. */
export interface InstanceId {
  readonly id: string;
  /** The hub has accepted it: a reload of the page shall find it, however the page ends. */
  keep(): void;
  /** Lets another connection have it. */
  release(): void;
}

/**
 * An id for a new connection. In a page it is one that the page had before it was reloaded, unless another tab uses
 * it: a duplicated tab has a copy of the storage, but not of the lock. Without storage or locks (in Node, in a worker,
 * in a page that is no secure context) it is new.
 */
export async function claimInstanceId(): Promise<InstanceId> {
  for (const id of keptIds()) {
    const release = await lock(id);
    if (release !== undefined) return { id, keep: () => undefined, release };
  }
  const id = newId();
  const release = (await lock(id)) ?? (() => undefined);
  return { id, keep: () => keepId(id), release };
}

/** 32 hexadecimal digits. `crypto.randomUUID` is there in secure contexts alone. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** `undefined` when another holds it, or there are no locks. */
async function lock(id: string): Promise<(() => void) | undefined> {
  const locks = typeof document === 'object' ? navigator.locks : undefined;
  if (locks === undefined) return undefined;
  return new Promise((resolve) => {
    const hold = async (held: unknown): Promise<void> => {
      if (held === null) return resolve(undefined);
      return new Promise((release) => resolve(release));
    };
    // a page that may not have locks has no kept ids either
    locks.request(`${STORAGE_KEY}:${id}`, { ifAvailable: true }, hold).catch(() => resolve(undefined));
  });
}

function keptIds(): string[] {
  try {
    return (sessionStorage.getItem(STORAGE_KEY) ?? '').split(' ').filter((id) => id !== '');
  } catch {
    return []; // there is no storage, or the page may not use it
  }
}

function keepId(id: string): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, [...keptIds(), id].slice(-MAX_KEPT).join(' '));
  } catch {
    // without storage a reload is another instance
  }
}
