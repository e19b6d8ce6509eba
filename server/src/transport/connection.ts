import { closeCodes, type CloseCode } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import type { TrafficCounts } from '../observability/metrics.js';
import type { OutgoingText } from '../json/json-text.js';
import type { ConnectionEnd, Peer } from '../sessions/session.js';
import type { HubSocket, SocketOwner } from './hub-socket.js';
import { MessageRate } from './message-rate.js';
import { Outbox, type FrameStream } from './outbox.js';
import { StreamProgress, type CountedStream } from './stream-progress.js';
import { startOfFrame, type TextFrames } from './text-frames.js';

/** A close frame's reason, in bytes of UTF-8 (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123;

/** Binary frames that are answered with an error; the next one closes the connection. */
const MAX_BINARY_FRAMES = 8;

/** What `ws` tells in place of a code when no close frame came (RFC 6455, section 7.1.5). */
const NO_CLOSE_FRAME = 1006;

/** Time for a peer without good credentials to answer a close frame, in milliseconds. */
const STRANGER_LINGER_MS = 1_000;

/** Bounds of one connection; times in milliseconds, sizes in bytes. */
export interface ConnectionLimits {
  readonly maxQueuedBytes: number;
  readonly maxMessagesPerSecond: number;
  readonly heartbeatMs: number;
  readonly probeTimeoutMs: number;
}

/** What a connection is made of. */
export interface ConnectionOptions {
  readonly socket: HubSocket;
  readonly stream: FrameStream & CountedStream;
  /** Shared by all connections, so that what goes to many of them is framed once. */
  readonly frames: TextFrames;
  readonly limits: ConnectionLimits;
  /** Shared by all connections. */
  readonly traffic: TrafficCounts;
  readonly log: Logger;
  /** The socket has closed. */
  readonly onClosed: (socket: HubSocket) => void;
}

/** Who gets what a connection receives. */
export interface Receiver {
  /** Who it is, for log lines. */
  readonly who: object;
  /** A text frame, checked to be UTF-8. */
  receive(frame: Buffer): void;
  /** A binary frame, which the wire does not have. */
  receiveBinary(): void;
  /** The connection is over; called once. */
  end(end: ConnectionEnd): void;
}

/**
 * One WebSocket: its heartbeat, its bounds, its end. The peer is pinged at every heartbeat and cut off when it
 * has shown no sign of life since the one before; one that reads too slowly is closed before its queue grows.
 */
export class Connection implements Peer, SocketOwner {
  readonly #socket: HubSocket;
  readonly #frames: TextFrames;
  readonly #outbox: Outbox;
  readonly #limits: ConnectionLimits;
  readonly #traffic: TrafficCounts;
  readonly #log: Logger;
  readonly #rate: MessageRate;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #progress: StreamProgress;
  readonly #onClosed: ConnectionOptions['onClosed'];
  #receiver: Receiver | undefined;
  #isAlive = true;
  /** Set once it is over. */
  #ended: ConnectionEnd | undefined;
  #binaryFrames = 0;
  #probe: Promise<boolean> | undefined;
  #onSignOfLife: (() => void) | undefined;

  constructor({ socket, stream, frames, limits, traffic, log, onClosed }: ConnectionOptions) {
    this.#socket = socket;
    this.#frames = frames;
    this.#outbox = new Outbox(stream);
    this.#progress = new StreamProgress(stream);
    this.#limits = limits;
    this.#traffic = traffic;
    this.#log = log;
    this.#onClosed = onClosed;
    this.#rate = new MessageRate(limits.maxMessagesPerSecond);
    this.#heartbeat = setInterval(beat, limits.heartbeatMs, this);
    socket.tell(this);
  }

  /** Hands over what arrives from now on. */
  deliverTo(receiver: Receiver): void {
    this.#receiver = receiver;
    if (this.#ended !== undefined) receiver.end(this.#ended);
  }

  send(text: OutgoingText): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = byteLength(text);
    if (this.#outbox.queuedBytes + bytes > this.#limits.maxQueuedBytes) return this.#tooSlow();
    this.#traffic.sentMessages += 1;
    this.#traffic.sentBytes += bytes;
    // past the socket's own `send`: without compression it keeps no queue that a frame could overtake
    if (typeof text === 'string') this.#outbox.write(this.#frames.of(text, bytes));
    else this.#outbox.write(startOfFrame(text.before, bytes), text.bytes, Buffer.from(text.after));
  }

  /** Lets go what is held for the end of the turn. */
  flush(): void {
    this.#outbox.flush();
  }

  close(code: CloseCode, reason: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) {
      this.#socket.close(code, cutToBytes(reason, MAX_REASON_BYTES));
      if (code === closeCodes.notAuthenticated) this.#cutOffSoon();
    }
    this.#end({ code });
  }

  /** A stranger that does not answer the close frame gets no more patience than that. */
  #cutOffSoon(): void {
    const timer = setTimeout(() => this.#socket.terminate(), STRANGER_LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  terminate(): void {
    this.flush();
    this.#socket.terminate();
    this.#end({});
  }

  /** Asks for a sign of life at once; several that ask share one ping. */
  probe(): Promise<boolean> {
    this.#probe ??= this.#askForSignOfLife().finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  async #askForSignOfLife(): Promise<boolean> {
    if (this.#ended !== undefined) return false;
    return new Promise((resolve) => {
      const answer = (isAlive: boolean): void => {
        clearTimeout(timer);
        this.#onSignOfLife = undefined;
        resolve(isAlive);
      };
      const timer = setTimeout(() => answer(false), this.#limits.probeTimeoutMs);
      this.#onSignOfLife = () => answer(this.#ended === undefined);
      this.#socket.ping();
    });
  }

  /** Time for a ping, or the end of a peer that did not answer the last one. */
  beat(): void {
    if (!this.#progress.hasMoved() && !this.#isAlive) {
      this.#log.info(this.#facts({}), 'no sign of life, connection cut');
      return this.terminate();
    }
    this.#isAlive = false;
    this.#socket.ping();
  }

  #signOfLife(): void {
    this.#isAlive = true;
    this.#onSignOfLife?.();
  }

  pinged(): void {
    this.#progress.disregardRead(); // whoever asks for pongs must give them too
    this.#count();
  }

  ponged(): void {
    if (this.#count()) this.#signOfLife();
  }

  closed(code: number): void {
    this.#end(code === NO_CLOSE_FRAME ? {} : { code });
    this.#onClosed(this.#socket);
  }

  received(data: unknown, isBinary: boolean): void {
    if (this.#ended !== undefined || !this.#count()) return;
    this.#signOfLife();
    // checked to be UTF-8 when it is text
    if (!Buffer.isBuffer(data)) return;
    this.#traffic.receivedMessages += 1;
    this.#traffic.receivedBytes += data.length;
    if (isBinary) this.#receiveBinary();
    else this.#receiver?.receive(data);
  }

  #receiveBinary(): void {
    this.#binaryFrames += 1;
    if (this.#binaryFrames > MAX_BINARY_FRAMES) this.close(closeCodes.unsupportedData, 'frames must be text');
    else this.#receiver?.receiveBinary();
  }

  /** Counts what the peer sends; it is read no faster than it may be answered. */
  #count(): boolean {
    if (!this.#rate.take()) {
      this.close(
        closeCodes.tooManyMessages,
        `more than ${this.#limits.maxMessagesPerSecond} messages a second`,
      );
      return false;
    }
    if (this.#outbox.queuedBytes <= this.#limits.maxQueuedBytes) return true;
    this.#tooSlow();
    return false;
  }

  #tooSlow(): void {
    if (this.#ended !== undefined) return;
    this.#traffic.slowConsumers += 1;
    this.#log.warn(this.#facts({ queuedBytes: this.#outbox.queuedBytes }), 'slow consumer closed');
    this.close(closeCodes.slowConsumer, 'the peer reads too slowly');
  }

  /** The peer broke the rules of frames; `ws` has sent the close frame already. */
  failed(error: Error): void {
    const code = 'code' in error ? error.code : undefined;
    this.#log.info(this.#facts({ code, reason: error.message }), 'connection failed');
    this.#end(
      code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
        ? { code: closeCodes.messageTooBig, cause: 'it sent a message larger than the hub takes' }
        : { code: closeCodes.protocolError },
    );
  }

  /** What a log line says, with whom it is about. */
  #facts(facts: object): object {
    return { ...this.#receiver?.who, ...facts };
  }

  #end(end: ConnectionEnd): void {
    if (this.#ended !== undefined) return;
    this.#ended = end;
    clearInterval(this.#heartbeat);
    this.#onSignOfLife?.();
    this.#receiver?.end(end);
  }
}

function beat(connection: Connection): void {
  connection.beat();
}

function byteLength(text: OutgoingText): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return Buffer.byteLength(text.before) + text.bytes.length + Buffer.byteLength(text.after);
}

/** Cuts a text to a number of bytes of UTF-8, at a character's boundary. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let bytes = 0;
  let cut = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}
