/** Most schemas of one tool, references followed. */
const MAX_SCHEMAS = 4_000;
/** Most that the schema of one tool holds beside, in characters, references followed. */
const MAX_CHARACTERS = 128 * 1024;
/** How many times as much the tools of one request may hold together. */
const TOOLS = 32;

/** Why a tool of a request that is spent is left out. */
export const REQUEST_TOO_LARGE = 'the parameters of all functions together are too large';

/** A small schema can stand for a huge one; this one does. The message says what is too large. */
export class ProjectionTooLarge extends Error {}

/** What the projected schemas of one request may hold together. */
export class RequestBudget {
  schemas = TOOLS * MAX_SCHEMAS;
  characters = TOOLS * MAX_CHARACTERS;

  /** Nothing more fits: a tool need not even be looked at. */
  get isSpent(): boolean {
    return this.schemas < 0 || this.characters < 0;
  }
}

/** What one projected schema may still hold. It is taken from the request's as well. */
export class ProjectionBudget {
  #schemas = MAX_SCHEMAS;
  #characters = MAX_CHARACTERS;

  constructor(private readonly request: RequestBudget) {}

  /** Counts a schema. @throws {ProjectionTooLarge} */
  addSchema(): void {
    this.#schemas -= 1;
    this.request.schemas -= 1;
    if (this.#schemas < 0) {
      throw new ProjectionTooLarge(`the parameters hold more than ${MAX_SCHEMAS} schemas`);
    }
    this.#checkRequest();
  }

  /** Counts text or data that is copied. @throws {ProjectionTooLarge} */
  addData(value: unknown): void {
    const characters = typeof value === 'string' ? value.length : JSON.stringify(value).length;
    this.#characters -= characters;
    this.request.characters -= characters;
    if (this.#characters < 0) {
      throw new ProjectionTooLarge(`the parameters hold more than ${MAX_CHARACTERS} characters`);
    }
    this.#checkRequest();
  }

  #checkRequest(): void {
    if (this.request.isSpent) throw new ProjectionTooLarge(REQUEST_TOO_LARGE);
  }
}
