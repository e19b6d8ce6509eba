import type { Limits } from '../config/config-schema.js';
import { fitTurns, type ConversationBounds } from './conversation-turns.js';
import type { ModelMessage } from './models/model.js';

/** Most that one conversation holds. */
const bounds: ConversationBounds = { maxMessages: 400, maxCharacters: 256 * 1024 };
/** Most that all conversations of all users hold together, in characters. */
const MAX_TOTAL_CHARACTERS = 128 * 1024 * 1024;

/** How many conversations are kept, and how long. */
export type ConversationsLimits = Pick<Limits, 'maxConversationsPerUser' | 'conversationTtlMs'>;

/** What a test sets itself. */
export interface ConversationsOptions {
  /** Milliseconds that only grow. */
  readonly now?: () => number;
  /** Most that all conversations hold together. */
  readonly maxTotalCharacters?: number;
}

interface Conversation {
  readonly userId: string;
  readonly messages: readonly ModelMessage[];
  readonly characters: number;
  usedAt: number;
}

/**
 * What was said in earlier runs, by user and `options.conversationId`: in memory and bounded. A conversation
 * that grows too long loses its oldest turns, as wholes; one that is not used expires, and when there are too
 * many the one unused for longest goes. Nobody gets anything of another user.
 */
export class Conversations implements Disposable {
  /** In the order of their last use. */
  readonly #conversations = new Map<string, Conversation>();
  /** Keys of a user's conversations, in the same order. */
  readonly #users = new Map<string, Set<string>>();
  readonly #now: () => number;
  readonly #maxTotalCharacters: number;
  #characters = 0;
  #isClosed = false;

  constructor(
    private readonly limits: ConversationsLimits,
    { now = () => performance.now(), maxTotalCharacters = MAX_TOTAL_CHARACTERS }: ConversationsOptions = {},
  ) {
    this.#now = now;
    this.#maxTotalCharacters = maxTotalCharacters;
  }

  /** Every message so far, oldest first, without system messages; empty for an unknown or expired conversation. */
  history(userId: string, conversationId: string): readonly ModelMessage[] {
    this.#expire();
    const key = keyOf(userId, conversationId);
    const conversation = this.#conversations.get(key);
    if (conversation === undefined) return [];
    this.#put(key, conversation);
    return conversation.messages;
  }

  /**
   * Adds what one run said, without what {@link history} gave it: two runs of one conversation at a time both
   * stay, as wholes. System messages, and tool calls at the end without results, are left out.
   */
  keep(userId: string, conversationId: string, turn: readonly ModelMessage[]): void {
    if (this.#isClosed) return;
    this.#expire();
    const key = keyOf(userId, conversationId);
    const earlier = this.#conversations.get(key)?.messages ?? [];
    const { messages, characters } = fitTurns(earlier, turn, bounds);
    this.#remove(key);
    if (messages.length === 0) return;
    this.#put(key, { userId, messages, characters, usedAt: 0 });
    this.#makeRoom(userId);
  }

  /** How many conversations are kept; for tests and figures. */
  get size(): number {
    return this.#conversations.size;
  }

  /** Forgets everything, and keeps nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#conversations.clear();
    this.#users.clear();
    this.#characters = 0;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Puts a conversation behind all others, as the one used last. */
  #put(key: string, conversation: Conversation): void {
    this.#remove(key);
    conversation.usedAt = this.#now();
    this.#conversations.set(key, conversation);
    this.#characters += conversation.characters;
    const keys = this.#users.get(conversation.userId);
    if (keys === undefined) this.#users.set(conversation.userId, new Set([key]));
    else keys.add(key);
  }

  #remove(key: string): void {
    const conversation = this.#conversations.get(key);
    if (conversation === undefined) return;
    this.#conversations.delete(key);
    this.#characters -= conversation.characters;
    const keys = this.#users.get(conversation.userId);
    keys?.delete(key);
    if (keys?.size === 0) this.#users.delete(conversation.userId);
  }

  #makeRoom(userId: string): void {
    const [oldestOfUser] = this.#users.get(userId) ?? [];
    const count = this.#users.get(userId)?.size ?? 0;
    if (oldestOfUser !== undefined && count > this.limits.maxConversationsPerUser) this.#remove(oldestOfUser);
    for (const key of this.#conversations.keys()) {
      if (this.#characters <= this.#maxTotalCharacters) return;
      this.#remove(key);
    }
  }

  /** Those unused for too long are all at the front: nothing needs a timer. */
  #expire(): void {
    const before = this.#now() - this.limits.conversationTtlMs;
    for (const [key, { usedAt }] of this.#conversations) {
      if (usedAt > before) return;
      this.#remove(key);
    }
  }
}

function keyOf(userId: string, conversationId: string): string {
  return JSON.stringify([userId, conversationId]);
}
