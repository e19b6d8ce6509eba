import { HubError, type Hub, type HubState, type ServedRemote } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { serveLasting } from '../../client-sdk/src/serve-lasting.js';

const remote = { remotename: 'page' } as ServedRemote;
const lost = new HubError({ code: 'connection-lost', message: 'lost' });

type Listener = (body: { state: HubState }) => void;

/** A session whose `serve` ends as told, one after the other; `change` changes its state. */
class ScriptedSession {
  state: HubState = 'open';
  serves = 0;
  #listener: Listener = () => undefined;

  constructor(private readonly endings: (ServedRemote | Error)[]) {}

  get isOpen(): boolean {
    return this.state === 'open';
  }

  readonly serve: Hub['serve'] = async () => {
    this.serves += 1;
    const ending = this.endings.shift();
    if (ending === lost) this.state = 'reconnecting';
    if (ending === undefined || ending instanceof Error) throw ending ?? new Error('one serve too many');
    return ending;
  };

  readonly on: Hub['on'] = (event, listener) => {
    expect(event).toBe('state');
    this.#listener = listener as Listener;
    return () => {
      this.#listener = () => undefined;
    };
  };

  async change(state: HubState): Promise<void> {
    this.state = state;
    this.#listener({ state });
    await Promise.resolve();
  }
}

test('REACT-15: a remote whose connection is lost before the answer is served with the next one', async () => {
  const session = new ScriptedSession([lost, lost, remote]);
  const serving = serveLasting(session, 'page', {}, {}, () => true);
  await expect.poll(() => session.serves).toBe(1);
  await session.change('reconnecting');
  expect(session.serves).toBe(1);
  await session.change('open');
  await expect.poll(() => session.serves).toBe(2);
  await session.change('open');

  expect(await serving).toBe(remote);
});

test('REACT-15: a remote that is wanted no more, and a session that has ended, end the serving', async () => {
  const session = new ScriptedSession([lost, lost]);
  let isWanted = true;
  const serving = serveLasting(session, 'page', {}, {}, () => isWanted);
  await expect.poll(() => session.serves).toBe(1);
  isWanted = false;
  await session.change('open');
  expect(await serving).toBeUndefined();

  const ended = serveLasting(session, 'page', {}, {}, () => true);
  await expect.poll(() => session.serves).toBe(2);
  await session.change('closed');
  await expect(ended).rejects.toThrow('one serve too many');
});

test('REACT-06: a refusal is thrown at once', async () => {
  const refusal = new HubError({ code: 'remote-already-connected', message: 'taken' });
  const session = new ScriptedSession([refusal]);

  await expect(serveLasting(session, 'page', {}, {}, () => true)).rejects.toBe(refusal);
  expect(session.serves).toBe(1);
});
