import { randomUUID } from 'node:crypto';
import type { Backplane, NameClaim, NodeSide } from './backplane.js';

/**
 * The backplane of one node alone: there are no others, so whatever its own registry allows is allowed. Needs nothing,
 * and nothing waits for it.
 */
export class LocalBackplane implements Backplane {
  readonly nodeId = randomUUID();
  readonly isReady = true;

  #node: NodeSide | undefined;

  start(node: NodeSide): void {
    this.#node = node;
  }

  claim(claim: NameClaim): undefined {
    claim.at = Date.now() * 1_000;
  }

  release(): void {
    // its own registry has forgotten it
  }

  find(): undefined {
    return undefined;
  }

  list(): readonly [] {
    return [];
  }

  toolsOf(): undefined {
    return undefined;
  }

  isAlive(nodeId: string): boolean {
    return nodeId === this.nodeId;
  }

  join(): void {
    // its own sessions are told by the node itself
  }

  leave(): void {
    // as above
  }

  publish(): void {
    // as above
  }

  isElsewhere(): boolean {
    return false;
  }

  send(...[nodeId, message, isTold]: Parameters<Backplane['send']>): void {
    if (isTold === true) this.#node?.lost(message, nodeId, 'node-gone');
  }

  moveInstance(): readonly [] {
    return [];
  }

  awaitInstance(): void {
    // its own providers wait
  }

  leaveInstance(): void {
    // there was nothing to note
  }

  keepRun(): void {
    // its own history has it
  }

  findRun(): undefined {
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // it holds nothing
  }
}
