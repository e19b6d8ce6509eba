/** A schema that cannot be used: refused when it is compiled. The message is for the schema's author. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  /** @param path JSON Pointer to the refused part of the schema; `''` for the whole. */
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}
