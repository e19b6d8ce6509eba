import type { Echo } from '../payload.js';

/** Where a server listens, and the token of one session. */
export interface Access {
  readonly url: string;
  readonly token: string;
}

/** Something of a client that can be ended at once. */
export interface Closing {
  close(): void;
}

/** One client that calls the served `echo`. */
export interface EchoCaller extends Closing {
  /** What came back for `args`. Calls may overlap. */
  call(args: Echo): Promise<unknown>;
}

/** One of many clients that all get what is published, its publisher too. */
export interface FanOutClient extends Closing {
  publish(): void;
}

/** The clients of one target, as its users write them; what it does not do is left out. */
export interface Adapter {
  /** Serves `echo`: what it is called with comes back. Done when it can be called. */
  serve?(access: Access): Promise<Closing>;
  caller?(access: Access): Promise<EchoCaller>;
  /** A connection that does nothing. Done when its server has let it in. */
  idle?(access: Access): Promise<Closing>;
  /** @param received told of everything published, and `false` when it is not what was published */
  fanOut?(access: Access, received: (isRight: boolean) => void): Promise<FanOutClient>;
}
