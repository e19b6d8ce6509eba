import type { JsonObject } from '@remotes-hub/protocol';

/** What a page says of a tool's effects; `false` when it says nothing. */
export interface ToolAnnotations {
  /** It only reads. */
  readonly readOnlyHint?: boolean;
  /** It does something significant that cannot be taken back, such as a payment. */
  readonly consequentialHint?: boolean;
  /** Its results hold what others wrote. */
  readonly untrustedContentHint?: boolean;
  /** It is for developers at work on the page, not for its users. */
  readonly debugging?: boolean;
}

/** A tool, as a page registers it. */
export interface ModelContextTool {
  /** 1 to 128 characters of `A-Z a-z 0-9 _ - .` */
  readonly name: string;
  /** A name for people. */
  readonly title?: string;
  /** What it does; not empty. */
  readonly description: string;
  /** JSON Schema of its input. @default any object */
  readonly inputSchema?: object;
  readonly annotations?: ToolAnnotations;
  /** Does it. `signal` aborts when nobody waits for the result any more. */
  execute(input: JsonObject, options: { readonly signal: AbortSignal }): unknown;
}

/** A tool that is registered, as `getTools` tells it. */
export interface RegisteredTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Its JSON Schema; a JSON text in browsers before Chrome 153, which also take the input as a text. */
  readonly inputSchema?: object | string | null;
  readonly annotations?: ToolAnnotations | null;
  /** The window of the document that registered it; named `source` from Chrome 160 on. */
  readonly window?: unknown;
  readonly source?: unknown;
}

/** How a tool is registered. */
export interface RegisterToolOptions {
  /** Unregisters the tool when it aborts. @default registered for good */
  readonly signal?: AbortSignal;
}

/** How a tool is executed. */
export interface ExecuteToolOptions {
  /** Gives up: the promise rejects with the signal's reason, and the tool's own signal aborts. @default none */
  readonly signal?: AbortSignal;
}

/** What serving needs of a model context: to list tools, to run them, and to be told of changes. */
export interface ToolSource {
  getTools(): Promise<readonly RegisteredTool[]>;
  /** Gives the result as a text: a string itself, anything else as JSON. */
  executeTool(
    tool: RegisteredTool,
    input?: object | string,
    options?: ExecuteToolOptions,
  ): Promise<string | null | undefined>;
  addEventListener(type: 'toolchange', listener: () => void): void;
  removeEventListener(type: 'toolchange', listener: () => void): void;
}

/** The WebMCP interface `ModelContext`, as far as it concerns a page's own tools. */
export interface ModelContext extends ToolSource {
  registerTool(tool: ModelContextTool, options?: RegisterToolOptions): Promise<undefined>;
}

/**
 * The model context of this page: `document.modelContext`, or `navigator.modelContext` in browsers before Chrome 152.
 * @throws {TypeError} the browser has none, or one that cannot list tools
 */
export function browserModelContext(): ToolSource {
  const places: unknown[] = [globalThis.document, globalThis.navigator];
  for (const place of places) {
    if (typeof place !== 'object' || place === null || !('modelContext' in place)) continue;
    if (isToolSource(place.modelContext)) return place.modelContext;
  }
  throw new TypeError(
    'modelContext: this browser has no document.modelContext that lists tools; give one of createModelContext()',
  );
}

/** Whether tools can be listed, run and followed there. */
export function isToolSource(value: unknown): value is ToolSource {
  return (
    typeof value === 'object' &&
    value !== null &&
    'getTools' in value &&
    typeof value.getTools === 'function' &&
    'executeTool' in value &&
    typeof value.executeTool === 'function' &&
    'addEventListener' in value &&
    typeof value.addEventListener === 'function'
  );
}
