import type { JsonText } from '../json/json-text.js';
import type { NodeMessage } from './node-messages.js';
import type { Soon } from '../soon.js';

/** A connection of this node that holds, or wants to hold, a name among all nodes. */
export interface NameClaim {
  readonly userId: string;
  readonly remotename: string;
  /** Of the connection; never used again. */
  readonly id: string;
  /** Stands for the instance that serves it: a later connection of the same one takes its place. */
  readonly instanceKey: string | undefined;
  /** The function specs, as the text that was connected. */
  readonly tools: JsonText;
  /** Milliseconds that functions ask for, by their names; only of those that ask. */
  readonly timeouts: ReadonlyMap<string, number>;
  /** Set once it holds the name: microseconds since 1970, by the clock that all nodes share. */
  at?: number;
  /** Set once its connection has ended: whoever is about to claim the name anew must not. */
  isOver?: boolean;
}

/** Who holds a name. */
export interface NameHolder {
  readonly remotename: string;
  readonly nodeId: string;
  /** Of the connection. */
  readonly id: string;
  readonly at: number;
  readonly timeouts: ReadonlyMap<string, number>;
}

/** A remote of another node, with its function specs. */
export interface ListedElsewhere extends NameHolder {
  readonly tools: JsonText;
}

/** Bounds of one user among all nodes. */
export interface NameLimits {
  readonly maxRemotesPerUser: number;
  readonly maxToolsBytesPerUser: number;
}

/** What the nodes tell this one. */
export interface NodeSide {
  /** A message of another node. */
  receive(message: NodeMessage, from: string): void;
  /** A message that was to be told when it did not get there. */
  lost(message: NodeMessage, nodeId: string, loss: Loss): void;
  /** Events of other nodes for the sessions of a user, as the texts of their frames. */
  deliver(userId: string, events: readonly string[]): void;
  /** A node is gone, or has lost what was on its way: nothing that it was sent will be answered. */
  nodeGone(nodeId: string): void;
  /** This node was cut off: nothing that it sent will be answered, and what it was asked is not waited for. */
  cutOff(): void;
  /** Remotes of a node that died. */
  remotesGone(userId: string, remotenames: readonly string[]): void;
  /** What this node holds, to be written anew. */
  claims(): Iterable<NameClaim>;
  /** It has joined, once more: what else the others know of it is to be told anew. */
  joined(): void;
  /** A name of this node belongs to another one's connection. */
  overruled(userId: string, id: string): void;
}

/**
 * What makes several nodes one hub: who holds which name, and the way to the other nodes. Everything that fails here
 * fails with `backplane-unavailable`.
 */
export interface Backplane extends AsyncDisposable {
  /** This node, until it has to take another id since it was thought dead. */
  readonly nodeId: string;
  /** Whether the other nodes can be reached. */
  readonly isReady: boolean;
  /** Joins the others, and keeps trying. */
  start(node: NodeSide): void;

  /**
   * Takes a name, when nobody has it or `replaced` has. Sets `at`.
   * @returns who has it otherwise
   * @throws {RemoteError} `too-many-remotes`
   */
  claim(claim: NameClaim, limits: NameLimits, replaced?: NameHolder): Soon<NameHolder | undefined>;
  /** Gives a name back; harmless when another has it. Never fails: what cannot be said now is said later. */
  release(claim: NameClaim): Soon<void>;
  /** Who holds a name on another node that lives. */
  find(userId: string, remotename: string): Soon<NameHolder | undefined>;
  /** The remotes of a user on other nodes that live. */
  list(userId: string): Soon<readonly ListedElsewhere[]>;
  /** The function specs of a connection on another node. */
  toolsOf(userId: string, holder: NameHolder): Soon<JsonText | undefined>;
  /** Whether a node lives, as far as anybody knows. */
  isAlive(nodeId: string): Soon<boolean>;

  /** Gets the events of a user from now on. */
  join(userId: string): Soon<void>;
  leave(userId: string): void;
  /** Sends events to the sessions that a user has on other nodes, in the order of the calls. */
  publish(userId: string, events: readonly string[]): void;
  /** Whether a user has sessions on other nodes. */
  isElsewhere(userId: string): Soon<boolean>;

  /**
   * Sends a message to a node, with those of the same turn.
   * @param isTold {@link NodeSide.lost} is called when it did not get there, as far as that is known
   */
  send(nodeId: string, message: NodeMessage, isTold?: boolean): void;

  /** Notes where an instance of a user is now. @returns other nodes that live where it was, or calls wait for it */
  moveInstance(userId: string, instanceKey: string, sessionId: string): Soon<readonly string[]>;
  /** Calls wait on this node for an instance to answer them. */
  awaitInstance(userId: string, instanceKey: string): void;
  /** The instance has left this session. */
  leaveInstance(userId: string, instanceKey: string, sessionId: string): void;

  /** Notes that a run is on this node, for so long, in milliseconds. */
  keepRun(userId: string, runId: string, ttlMs: number): void;
  /** The other node that has a run, if it lives. */
  findRun(userId: string, runId: string): Soon<string | undefined>;
}

/** Why a message did not get to its node: the node is gone, or nobody knows. */
export type Loss = 'node-gone' | 'unavailable';
