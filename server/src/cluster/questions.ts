import type { Logger } from '../observability/logger.js';
import type { JsonText } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { Backplane, Loss } from './backplane.js';
import { answerHead, askHead, refusalHead, type NodeMessage } from './node-messages.js';
import { unavailable } from './unavailable.js';

/** What a node answers: a small value, and a text that is only passed on. */
export interface NodeAnswer {
  readonly value: unknown;
  readonly body?: JsonText | undefined;
}

/** Answers questions about one thing. Throws a `RemoteError` to refuse. */
export type Answerer = (fields: readonly unknown[], from: string) => NodeAnswer | Promise<NodeAnswer>;

interface OpenQuestion {
  readonly nodeId: string;
  readonly timer: NodeJS.Timeout;
  readonly settle: (answer: NodeAnswer | RemoteError) => void;
}

/** Nobody listens where a question was sent: that node is gone, even if its lease has not ended. */
export class NodeGoneError extends RemoteError {
  constructor() {
    super('backplane-unavailable', 'a node of the hub is gone');
  }
}

/** Questions between nodes that need an answer, beside the calls. */
export class Questions {
  readonly #open = new Map<number, OpenQuestion>();
  readonly #answerers = new Map<string, Answerer>();
  #next = 0;

  constructor(
    private readonly backplane: Pick<Backplane, 'send'>,
    private readonly log: Logger,
  ) {}

  /** Says who answers. */
  answerAbout(about: string, answerer: Answerer): void {
    this.#answerers.set(about, answerer);
  }

  /**
   * Asks a node.
   * @throws {NodeGoneError} nobody listens there
   * @throws {RemoteError} what it refuses with, or `backplane-unavailable`
   */
  async ask(
    nodeId: string,
    about: string,
    fields: readonly unknown[],
    timeoutMs: number,
  ): Promise<NodeAnswer> {
    const n = this.#next++;
    return new Promise((resolve, reject) => {
      const settle = (answer: NodeAnswer | RemoteError): void => {
        clearTimeout(timer);
        this.#open.delete(n);
        if (answer instanceof RemoteError) reject(answer);
        else resolve(answer);
      };
      const timer = setTimeout(() => settle(unavailable()), timeoutMs);
      this.#open.set(n, { nodeId, timer, settle });
      this.backplane.send(nodeId, { head: ['ask', n, about, fields] }, true);
    });
  }

  /** Takes a message of a node, if it is a question or an answer. */
  receive({ head, body }: NodeMessage, from: string): boolean {
    if (head[0] === 'ask') void this.#answer(head, from);
    else if (head[0] === 'answer') this.#answered(head, body, from);
    else if (head[0] === 'refusal') this.#refused(head, from);
    else return false;
    return true;
  }

  /** Takes a message that did not get there, if it was a question. */
  lost({ head }: NodeMessage, nodeId: string, loss: Loss): boolean {
    if (head[0] !== 'ask') return false;
    const question = typeof head[1] === 'number' ? this.#find(head[1], nodeId) : undefined;
    question?.settle(loss === 'node-gone' ? new NodeGoneError() : unavailable());
    return true;
  }

  /** Nothing that this node was asked will be answered. */
  nodeGone(nodeId: string): void {
    for (const question of [...this.#open.values()]) {
      if (question.nodeId === nodeId) question.settle(new NodeGoneError());
    }
  }

  /** Nothing will be answered. */
  cutOff(): void {
    for (const { settle } of [...this.#open.values()]) settle(unavailable());
  }

  async #answer(head: readonly unknown[], from: string): Promise<void> {
    const read = askHead.safeParse(head);
    if (!read.success) return;
    const [, n, about, fields] = read.data;
    try {
      const answerer = this.#answerers.get(about);
      if (answerer === undefined) throw new RemoteError('internal-error', 'another version of the hub');
      const { value, body } = await answerer(fields, from);
      this.backplane.send(from, { head: ['answer', n, value], body });
    } catch (error) {
      if (!(error instanceof RemoteError)) this.log.error({ err: error, about }, 'question of a node failed');
      const { code, message } = error instanceof RemoteError ? error : unavailable();
      this.backplane.send(from, { head: ['refusal', n, code, message] });
    }
  }

  #answered(head: readonly unknown[], body: JsonText | undefined, from: string): void {
    const read = answerHead.safeParse(head);
    if (read.success) this.#find(read.data[1], from)?.settle({ value: read.data[2], body });
  }

  #refused(head: readonly unknown[], from: string): void {
    const read = refusalHead.safeParse(head);
    if (!read.success) return;
    const [, n, code, message] = read.data;
    this.#find(n, from)?.settle(new RemoteError(code, message));
  }

  #find(n: number, from: string): OpenQuestion | undefined {
    const question = this.#open.get(n);
    return question?.nodeId === from ? question : undefined;
  }
}
