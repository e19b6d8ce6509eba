/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** Where, as in `agents[0].model.provider`; empty when it is the file as a whole. */
  readonly path: string;
  /** What was expected, in words. Holds no secret. */
  readonly message: string;
}

/** A configuration that cannot be used, with everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly problems: readonly ConfigProblem[],
    /** The configuration file, when there is one. */
    readonly file?: string,
    options?: ErrorOptions,
  ) {
    super(describe(problems, file), options);
  }
}

function describe(problems: readonly ConfigProblem[], file: string | undefined): string {
  const title = file === undefined ? 'the configuration cannot be used' : `${file} cannot be used`;
  const lines = problems.map(({ path, message }) => `  ${path === '' ? message : `${path}: ${message}`}`);
  return [`${title}:`, ...lines].join('\n');
}

/** A path as people write it: `agents[0].id`, and `limits["max x"]` where a key is no plain word. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[$\w-]+$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`;
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text;
}
