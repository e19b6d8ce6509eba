import { ModelError } from './model.js';

/** The official client of a provider: a package that is installed beside the hub by who uses it. */
export interface PeerPackage<T> {
  readonly name: string;
  /** The oldest major version that the hub works with. */
  readonly oldestMajor: number;
  readonly load: () => Promise<T>;
  /** The module of the package that exports its `VERSION`. */
  readonly loadVersion: () => Promise<{ readonly VERSION: string }>;
}

/**
 * Loads a peer package.
 * @throws {ModelError} naming what to install when the package is missing or too old; also when it cannot be loaded
 */
export async function loadPeer<T>({ name, oldestMajor, load, loadVersion }: PeerPackage<T>): Promise<T> {
  const version = await loadVersion().then(
    ({ VERSION }) => VERSION,
    () => '', // unknown: what matters is whether the package itself can be loaded
  );
  if (isOlder(version, oldestMajor)) {
    throw new ModelError(
      `the package '${name}' ${version} is too old, ${oldestMajor} or newer is needed: npm install ${name}`,
    );
  }
  try {
    return await load();
  } catch (cause) {
    if (isMissing(cause, name)) {
      throw new ModelError(`the package '${name}' is not installed: npm install ${name}`, { cause });
    }
    const kind = cause instanceof Error ? cause.name : 'unknown failure';
    throw new ModelError(`the package '${name}' cannot be loaded: ${kind}`, { cause });
  }
}

function isOlder(version: string, oldestMajor: number): boolean {
  const major = Number.parseInt(version, 10);
  return !Number.isNaN(major) && major < oldestMajor;
}

/** That package itself is not found; a file or another package that it needs is another matter. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`package '${name}'`);
}
