import * as z from 'zod';
import type { SessionDirectory } from '../sessions/session-directory.js';
import type { Logger } from '../observability/logger.js';
import type { AskedCalls } from './asked-calls.js';
import type { Loss, NameClaim, NodeSide } from './backplane.js';
import type { CallRelay } from './call-relay.js';
import type { InstanceRelay } from './instance-relay.js';
import { overruledHead, type NodeMessage } from './node-messages.js';
import type { Questions } from './questions.js';
import type { RemoteDirectory } from './remote-directory.js';

/** The parts of a node that other nodes deal with. */
export interface NodeParts {
  readonly directory: RemoteDirectory;
  readonly relay: CallRelay;
  readonly asked: AskedCalls;
  readonly questions: Questions;
  readonly instances: InstanceRelay;
  readonly sessions: SessionDirectory;
  /** Tells the others anew which runs are here. */
  readonly keepRuns: () => void;
  readonly log: Logger;
}

const endedSchema = z.object({ body: z.object({ remotename: z.string() }) });

/** The remote that an event says has ended. */
function remoteEndedBy(event: string): string | undefined {
  if (!event.startsWith('{"action":"remote-disconnected"')) return undefined;
  try {
    return endedSchema.parse(JSON.parse(event)).body.remotename;
  } catch {
    return undefined;
  }
}

/** This node, as the others meet it: hands what they send to the part that it is for. */
export class Node implements NodeSide {
  constructor(private readonly parts: NodeParts) {}

  receive(message: NodeMessage, from: string): void {
    const { relay, asked, questions, instances, log } = this.parts;
    try {
      const isKnown =
        relay.receive(message, from) ||
        asked.receive(message, from) ||
        questions.receive(message, from) ||
        instances.receive(message) ||
        this.#overruledBy(message);
      if (!isKnown) log.debug({ kind: String(message.head[0]).slice(0, 32) }, 'unknown message of a node');
    } catch (error) {
      log.error({ err: error }, 'message of a node failed');
    }
  }

  lost(message: NodeMessage, nodeId: string, loss: Loss): void {
    const { relay, questions } = this.parts;
    if (!relay.lost(message, nodeId, loss)) questions.lost(message, nodeId, loss);
  }

  deliver(userId: string, events: readonly string[]): void {
    const { sessions, directory } = this.parts;
    // whoever took this node for dead told the end of remotes that it serves still
    const fitting = events.filter((event) => !directory.isHere(userId, remoteEndedBy(event)));
    sessions.deliver(userId, fitting);
  }

  nodeGone(nodeId: string): void {
    const { relay, asked, questions, instances } = this.parts;
    for (const part of [relay, asked, questions, instances]) part.nodeGone(nodeId);
  }

  cutOff(): void {
    const { relay, asked, questions, instances } = this.parts;
    for (const part of [relay, asked, questions, instances]) part.cutOff();
  }

  remotesGone(userId: string, remotenames: readonly string[]): void {
    const { directory, sessions } = this.parts;
    for (const remotename of remotenames) {
      // here it is when the node that died was this one under its former id, or a session of it came here
      const isGone = (): boolean => !directory.isHere(userId, remotename);
      if (isGone()) sessions.broadcast(userId, 'remote-disconnected', { remotename }, isGone);
    }
  }

  claims(): Iterable<NameClaim> {
    return this.parts.directory.claims();
  }

  overruled(userId: string, id: string): void {
    this.parts.directory.overruled(userId, id);
  }

  joined(): void {
    this.parts.instances.joined();
    this.parts.keepRuns();
  }

  #overruledBy({ head }: NodeMessage): boolean {
    const read = overruledHead.safeParse(head);
    if (!read.success) return false;
    this.overruled(read.data[1], read.data[2]);
    return true;
  }
}
