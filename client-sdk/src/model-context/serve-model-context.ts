import type { JsonValue, Verb } from '@remotes-hub/protocol';
import { MAX_DESCRIPTION_LENGTH } from '@remotes-hub/protocol/limits';
import { HubError } from '../errors.js';
import type { HubEvents } from '../events.js';
import type { FunctionDefinition } from '../functions.js';
import type { CallContext } from '../served-function.js';
import type { Hub, ServedRemote } from '../hub.js';
import { isJsonObject, parseJson } from '../json-values.js';
import type { DisconnectOptions, ServeOptions } from '../options.js';
import { serveLasting } from '../serve-lasting.js';
import { browserModelContext, isToolSource, type RegisteredTool, type ToolSource } from './model-context.js';
import { toolResult } from './tool-result.js';

/** What of a page's tools is served, and how. */
export interface ServeModelContextOptions extends ServeOptions {
  /** Where the tools are registered. @default the browser's `document.modelContext` */
  readonly modelContext?: ToolSource;
  /** Whether a tool is served. @default all but those that are for debugging */
  readonly filter?: (tool: RegisteredTool) => boolean;
  /**
   * Told what went wrong later: a tool whose schema the hub cannot use and that is left out, or changed tools that
   * could not be served (`remote-already-connected`, say); the next change tries again. @default the console
   */
  readonly onError?: (error: unknown) => void;
}

/** The tools of a page at work as a remote. */
export interface ServedModelContext extends AsyncDisposable {
  readonly remotename: string;
  /** The names of the tools that are served now. */
  readonly toolNames: readonly string[];
  /** Follows no more changes and disconnects the remote. Harmless when it has ended. @throws {HubError} */
  stop(options?: DisconnectOptions): Promise<void>;
}

/**
 * Serves the tools that a page registered with the browser's model-context API (WebMCP) as a remote, and follows their
 * changes until it is stopped or the session ends. When tools come or go the remote is disconnected and connected anew:
 * calls in flight may finish, new ones fail for that moment with `remote-not-connected`.
 *
 * @throws {TypeError} there is no model context
 * @throws {HubError} as `hub.serve`
 * @see README.md, "Tools of the page (WebMCP)"
 */
export async function serveModelContext(
  hub: Hub,
  remotename: string,
  options: ServeModelContextOptions = {},
): Promise<ServedModelContext> {
  const {
    modelContext = browserModelContext(),
    filter = isForUsers,
    onError = reportError,
    resumeMs = 0,
  } = options;
  if (!isToolSource(modelContext)) throw new TypeError('modelContext: expected a model context');
  const served = new ToolsRemote(hub, remotename, modelContext, { filter, onError, resumeMs });
  await served.start();
  return served;
}

class ToolsRemote implements ServedModelContext {
  toolNames: readonly string[] = [];
  #tools: ReadonlyMap<string, RegisteredTool> = new Map();
  #remote: ServedRemote | undefined;
  /** What is served, as JSON; `undefined` when nothing is. */
  #served: string | undefined;
  /** Updates run one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #isStale = false;
  #isStopped = false;
  #removeListeners: () => void = () => undefined;

  constructor(
    private readonly hub: Hub,
    readonly remotename: string,
    private readonly source: ToolSource,
    private readonly options: Required<Omit<ServeModelContextOptions, 'modelContext'>>,
  ) {}

  /** Serves what is registered. Listens first: a tool registered meanwhile is not missed. */
  async start(): Promise<void> {
    this.source.addEventListener('toolchange', this.#onToolChange);
    const removers = [
      this.hub.on('close', () => this.#unfollow()),
      this.hub.on('serve-failed', (failure) => this.#onServeFailed(failure)),
    ];
    this.#removeListeners = () => {
      for (const remove of removers) remove();
    };
    try {
      await this.#queue(() => this.#update());
    } catch (error) {
      this.#unfollow();
      throw error;
    }
  }

  async stop(options?: DisconnectOptions): Promise<void> {
    this.#unfollow();
    await this.#turn;
    await this.#remote?.disconnect(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  readonly #onToolChange = (): void => {
    if (this.#isStale) return;
    this.#isStale = true;
    this.#queue(() => this.#update()).catch(this.options.onError);
  };

  /** The next change tries again, whatever it is. */
  #onServeFailed({ remotename, code, message }: HubEvents['serve-failed']): void {
    if (remotename !== this.remotename) return;
    this.#nothingServed();
    this.options.onError(new HubError({ code, message }));
  }

  #nothingServed(): void {
    this.#served = undefined;
    this.toolNames = [];
  }

  #queue(task: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(task);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #unfollow(): void {
    this.#isStopped = true;
    this.source.removeEventListener('toolchange', this.#onToolChange);
    this.#removeListeners();
  }

  /** Serves anew when the tools are others than before. */
  async #update(): Promise<void> {
    this.#isStale = false;
    const tools = ownTools((await this.source.getTools()).filter((tool) => this.options.filter(tool)));
    if (this.#isStopped) return;
    this.#tools = tools;
    const functions = new Map(Array.from(tools.values(), (tool) => [tool.name, this.#toFunction(tool)]));
    const wanted = JSON.stringify([...functions]);
    if (wanted === this.#served) return;
    await this.#remote?.disconnect({ drain: true });
    this.#nothingServed();
    this.#remote = await this.#serve(functions);
    if (this.#remote === undefined) return;
    this.#served = wanted;
    this.toolNames = [...functions.keys()];
  }

  /** Serves these functions, but for those whose schema the hub refuses: one bad tool does not take the others along. */
  async #serve(functions: Map<string, FunctionDefinition>): Promise<ServedRemote | undefined> {
    const { resumeMs } = this.options;
    for (;;) {
      try {
        return await serveLasting(
          this.hub,
          this.remotename,
          Object.fromEntries(functions),
          { resumeMs },
          () => !this.#isStopped,
        );
      } catch (error) {
        const refused = refusedFunction(error, functions);
        if (refused === undefined) throw error;
        functions.delete(refused);
        this.options.onError(error);
      }
    }
  }

  #toFunction({ name, description, inputSchema, annotations }: RegisteredTool): FunctionDefinition {
    const schema = typeof inputSchema === 'string' ? parseSchema(inputSchema) : inputSchema;
    const verb = annotations == null ? undefined : toVerb(annotations);
    return {
      description: description.slice(0, MAX_DESCRIPTION_LENGTH),
      ...(isJsonObject(schema) ? { parameters: schema } : {}),
      ...(verb === undefined ? {} : { verb }),
      handler: (args, { signal }) => this.#execute(name, args, signal),
    };
  }

  /** Runs the tool that has the name now. */
  async #execute(name: string, args: object, signal: CallContext['signal']): Promise<JsonValue> {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new Error(`the tool '${name}' is no longer registered`);
    const input = typeof tool.inputSchema === 'string' ? JSON.stringify(args) : args;
    return toolResult(await this.source.executeTool(tool, input, { signal }));
  }
}

/** By name. Frames of the page may have tools of the same name: those of its own document come first. */
function ownTools(tools: readonly RegisteredTool[]): Map<string, RegisteredTool> {
  const byName = new Map<string, RegisteredTool>();
  for (const tool of tools) {
    if (!byName.has(tool.name) || (tool.source ?? tool.window) === globalThis) byName.set(tool.name, tool);
  }
  return byName;
}

function isForUsers({ annotations }: RegisteredTool): boolean {
  return annotations?.debugging !== true;
}

/** What is significant needs an approval when an agent calls, whatever else is said of it. */
function toVerb({
  readOnlyHint,
  consequentialHint,
}: NonNullable<RegisteredTool['annotations']>): Verb | undefined {
  if (consequentialHint === true) return 'update';
  return readOnlyHint === true ? 'get' : undefined;
}

function parseSchema(text: string): unknown {
  return text === '' ? undefined : parseJson(text);
}

/** The function whose schema was refused: the hub's text names it. */
function refusedFunction(error: unknown, functions: ReadonlyMap<string, unknown>): string | undefined {
  if (!(error instanceof HubError) || error.code !== 'invalid-schema') return undefined;
  return [...functions.keys()].find((name) => error.message.includes(`function '${name}'`));
}

function reportError(error: unknown): void {
  console.error('remotes-hub: the tools of the page:', error);
}
