import { closeCodes, remoteCallProgressSchema, remoteCallResultSchema } from '@remotes-hub/protocol';
import * as z from 'zod';
import type { Logger } from '../observability/logger.js';
import { JsonText } from '../json/json-text.js';
import { MessageText } from '../json/message-text.js';
import type { WrittenMessage } from '../json/written-message.js';
import type { SessionProviders } from '../remotes/session-providers.js';
import type { ComingSession } from '../sessions/reception.js';
import type { Session } from '../sessions/session.js';
import type { SessionDirectory } from '../sessions/session-directory.js';
import type { Backplane } from './backplane.js';
import { frameHead, sessionEndHead, sessionFrameHead, type NodeMessage } from './node-messages.js';
import type { NodeAnswer, Questions } from './questions.js';
import { SessionElsewhere } from './session-elsewhere.js';
import type { Soon } from '../soon.js';

/** Time for a node to end the earlier session of an instance, in milliseconds. */
const TAKE_OVER_TIMEOUT_MS = 2_000;
/** Frames that are kept for a session that is about to begin: each tells of a call that need not be answered. */
const MAX_EARLY_FRAMES = 16_384;
/** Nodes that one instance may have left calls on. */
const MAX_NODES = 8;

/** What an instance left on other nodes. */
interface TakenOver {
  /** Nodes on which calls of it wait for their answers. */
  readonly nodes: readonly string[];
  /** Above every request number that was used there. */
  readonly floor: number;
}

/** What the relay works with. */
export interface InstanceRelayOptions {
  readonly backplane: Backplane;
  readonly questions: Questions;
  readonly sessions: SessionDirectory;
  readonly providers: SessionProviders;
  /** Counts a message that is dropped without an answer. */
  readonly ignore: () => void;
  readonly log: Logger;
}

const NOWHERE = { nodes: [] } as const;

const text = z.string();
const takeOverFields = z.tuple([text, text, text, z.boolean()]).rest(z.unknown());
const takenOverSchema = z.object({ isResumed: z.boolean(), floor: z.number() });

/**
 * One instance among all nodes: its earlier session is ended wherever it is, and calls that wait for it there are
 * answered through the node to which it has come.
 */
export class InstanceRelay {
  readonly #options: InstanceRelayOptions;
  /** Sessions of this node whose instance left calls on other nodes, by their ids. */
  readonly #leftOn = new Map<string, { readonly session: Session; readonly nodes: readonly string[] }>();
  /** Frames for sessions that are about to begin. */
  readonly #early = new Map<string, JsonText[]>();
  /** The last session here of each instance for which calls wait. */
  readonly #lost = new Map<string, string>();
  /** Sessions of other nodes that have taken over calls of this one, by their ids. */
  readonly #elsewhere = new Map<string, SessionElsewhere>();

  constructor(options: InstanceRelayOptions) {
    this.#options = options;
    options.questions.answerAbout('take-over', async (fields, from) => this.#answerTakeOver(fields, from));
  }

  /**
   * A session is about to begin: the earlier one of its instance on another node is ended first. Never fails; calls that
   * could not be taken over end as they would without it.
   * @returns what is to be done when it has begun
   */
  arriving(coming: ComingSession): Soon<(session: Session) => void> {
    const { backplane, log } = this.#options;
    this.#endElsewhere(coming.userId, coming.instanceKey);
    const begin = (taken?: TakenOver) => (session: Session) => this.#begin(session, coming, taken);
    if (!backplane.isReady) return begin();
    const place = backplane.moveInstance(coming.userId, coming.instanceKey, coming.sessionId);
    if (!(place instanceof Promise)) return begin(); // one node alone
    this.#early.set(coming.sessionId, []);
    return place
      .then(async (found) => begin(await this.#takeOverFrom(found, coming)))
      .catch((error: unknown) => {
        log.warn({ err: error, sessionId: coming.sessionId }, 'the instance was not taken over');
        return begin();
      })
      .finally(() => {
        // whether or not the session begins: what came for it is delivered after the reply to its login
        setImmediate(() => this.#deliverEarly(coming.sessionId));
      });
  }

  #deliverEarly(sessionId: string): void {
    const frames = this.#early.get(sessionId) ?? [];
    this.#early.delete(sessionId);
    for (const frame of frames) this.#leftOn.get(sessionId)?.session.send(frame.text);
  }

  #begin(session: Session, { userId, instanceKey }: ComingSession, taken: TakenOver | undefined): void {
    const { backplane, providers } = this.#options;
    const { id } = session;
    if (taken !== undefined && taken.nodes.length > 0) {
      this.#leftOn.set(id, { session, nodes: taken.nodes });
      providers.of(session).numberFrom(taken.floor);
    }
    session.onEnd(() => {
      this.#ended(session);
      // whether calls wait for it is known when all who hang on the session have been told
      queueMicrotask(() => {
        if (!providers.isSuspended(userId, instanceKey))
          return backplane.leaveInstance(userId, instanceKey, id);
        this.#lost.set(JSON.stringify([userId, instanceKey]), id);
        backplane.awaitInstance(userId, instanceKey);
      });
    });
  }

  /** Nothing of an instance waits here any more. */
  forgotten(userId: string, instanceKey: string): void {
    const key = JSON.stringify([userId, instanceKey]);
    const sessionId = this.#lost.get(key);
    this.#lost.delete(key);
    if (sessionId !== undefined) this.#options.backplane.leaveInstance(userId, instanceKey, sessionId);
  }

  /** Passes an answer on to where the call may wait. @returns false when it can wait nowhere */
  passOn(session: Session, message: WrittenMessage): boolean {
    const left = this.#leftOn.get(session.id);
    if (left === undefined) return false;
    const body = new JsonText(message.text);
    for (const nodeId of left.nodes) {
      this.#options.backplane.send(nodeId, { head: ['session-frame', session.id], body });
    }
    return true;
  }

  /** Takes a message about a session, if it is one. */
  receive({ head, body }: NodeMessage): boolean {
    if (head[0] === 'frame') this.#frame(head, body);
    else if (head[0] === 'session-frame') this.#sessionFrame(head, body);
    else if (head[0] === 'session-end') this.#sessionEnd(head);
    else return false;
    return true;
  }

  /** The sessions of a node are gone with it. */
  nodeGone(nodeId: string): void {
    for (const [id, session] of [...this.#elsewhere]) if (session.nodeId === nodeId) this.#end(id, undefined);
  }

  /** Sessions of other nodes can tell nothing any more. */
  cutOff(): void {
    for (const id of [...this.#elsewhere.keys()]) this.#end(id, undefined);
  }

  /** Tells the others anew where the instances of this node are. */
  joined(): void {
    const { sessions, backplane } = this.#options;
    for (const { userId, instanceKey, id } of sessions.all()) {
      if (instanceKey === undefined) continue;
      const moved = backplane.moveInstance(userId, instanceKey, id);
      if (moved instanceof Promise) moved.catch(() => undefined); // cut off again: the next time it joins
    }
  }

  /** A node that does not answer has nothing that could be taken over. */
  async #takeOverFrom(toAsk: readonly string[], coming: ComingSession): Promise<TakenOver> {
    const asked = toAsk.slice(0, MAX_NODES);
    const answers = await Promise.allSettled(
      asked.map(async (nodeId) => this.#askToHandOver(nodeId, coming)),
    );
    const nodes: string[] = [];
    let floor = 0;
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') this.#logRefusal(answer.reason, coming);
      else {
        floor = Math.max(floor, answer.value.floor);
        if (answer.value.isResumed) nodes.push(...asked.slice(index, index + 1));
      }
    }
    return { nodes, floor };
  }

  async #askToHandOver(nodeId: string, coming: ComingSession): Promise<z.output<typeof takenOverSchema>> {
    const { userId, instanceKey, sessionId, speaksV1 } = coming;
    const fields = [userId, instanceKey, sessionId, speaksV1];
    const { value } = await this.#options.questions.ask(nodeId, 'take-over', fields, TAKE_OVER_TIMEOUT_MS);
    return takenOverSchema.parse(value);
  }

  #logRefusal(error: unknown, { userId, sessionId }: ComingSession): void {
    this.#options.log.warn({ err: error, userId, sessionId }, 'the instance was not taken over from a node');
  }

  async #answerTakeOver(fields: readonly unknown[], from: string): Promise<NodeAnswer> {
    const { sessions, providers, backplane } = this.#options;
    const [userId, instanceKey, sessionId, speaksV1] = takeOverFields.parse(fields);
    for (const session of sessions.ofInstance(userId, instanceKey)) {
      session.close(closeCodes.replaced, 'replaced by a later session of this instance');
    }
    this.#endElsewhere(userId, instanceKey);
    const session = new SessionElsewhere({
      userId,
      instanceKey,
      speaksV1,
      sessionId,
      nodeId: from,
      backplane,
    });
    const provider = providers.resume(session);
    if (provider !== undefined) {
      this.#elsewhere.set(sessionId, session);
      backplane.awaitInstance(userId, instanceKey);
    }
    return { value: { isResumed: provider !== undefined, floor: provider?.requestCeiling ?? 0 } };
  }

  /** The instance has come to yet another place. */
  #endElsewhere(userId: string, instanceKey: string): void {
    for (const [id, session] of [...this.#elsewhere]) {
      if (session.userId === userId && session.instanceKey === instanceKey)
        this.#end(id, closeCodes.replaced);
    }
  }

  #end(sessionId: string, code: number | undefined): void {
    const session = this.#elsewhere.get(sessionId);
    this.#elsewhere.delete(sessionId);
    session?.end(code);
  }

  #ended(session: Session): void {
    const { nodes } = this.#leftOn.get(session.id) ?? NOWHERE;
    this.#leftOn.delete(session.id);
    for (const nodeId of nodes) {
      this.#options.backplane.send(nodeId, { head: ['session-end', session.id, session.endCode ?? null] });
    }
  }

  #frame(head: readonly unknown[], body: JsonText | undefined): void {
    const read = frameHead.safeParse(head);
    if (!read.success || body === undefined) return;
    const early = this.#early.get(read.data[1]);
    if (early === undefined) this.#leftOn.get(read.data[1])?.session.send(body.text);
    else if (early.length < MAX_EARLY_FRAMES) early.push(body);
  }

  #sessionFrame(head: readonly unknown[], body: JsonText | undefined): void {
    const read = sessionFrameHead.safeParse(head);
    const session = read.success ? this.#elsewhere.get(read.data[1]) : undefined;
    const provider = session && this.#options.providers.find(session);
    const message = body && MessageText.read(Buffer.from(body.text));
    if (provider === undefined || message === undefined) return;
    const value = message.parse();
    const answer = remoteCallResultSchema.safeParse(value);
    const progress = remoteCallProgressSchema.safeParse(value);
    const isTaken =
      (answer.success && provider.answer(answer.data, message)) ||
      (progress.success && provider.progress(progress.data, message));
    if (!isTaken) this.#options.ignore();
  }

  #sessionEnd(head: readonly unknown[]): void {
    const read = sessionEndHead.safeParse(head);
    if (read.success) this.#end(read.data[1], read.data[2] ?? undefined);
  }
}
