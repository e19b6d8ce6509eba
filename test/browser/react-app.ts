/** The page of react.test.ts: components that show what the hooks say, and that the test changes through `window`. */
import { createElement, StrictMode, useState, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { connect, HubError, RemoteError, type Hub } from '@remotes-hub/client';
import { HubProvider, useCall, useHub, useRemote, useRemotes, useRun } from '@remotes-hub/client/react';
import * as z from 'zod';

/** What the test sets. */
export interface Settings {
  readonly isOpen: boolean;
  readonly token: string;
  readonly parts: readonly ('remote' | 'remotes' | 'call' | 'run')[];
  readonly remotename: string;
  readonly greeting: string;
  readonly description: string;
  /** Longest name that is greeted. */
  readonly longest: number;
  /** Another one mounts another component in the place of the one before. */
  readonly generation: number;
}

declare global {
  interface Window {
    change(settings: Partial<Settings>): void;
    /** The calls and runs of the components, by what they are called for. */
    start(what: 'call' | 'cancel-call' | 'prompt', ...values: string[]): void;
    /** How the waiting handler's signal aborted. */
    aborted: string;
    /** A session that the page opened itself, given to the provider. */
    ownHub: Hub | undefined;
    useOwnHub(): Promise<void>;
    /** Closes the socket of the provider's session, as a network might. */
    cut(): void;
  }
}

const initial: Settings = {
  isOpen: true,
  token: sessionStorage.getItem('token') ?? '',
  parts: [],
  remotename: 'page',
  greeting: 'Hello',
  description: 'Greets.',
  longest: 10,
  generation: 0,
};

function show(id: string, value: unknown): ReactElement {
  return createElement(
    'output',
    { id },
    JSON.stringify(value, (_key, part: unknown) => toText(part)),
  );
}

function toText(value: unknown): unknown {
  return value instanceof HubError || value instanceof RemoteError ? { code: value.code } : value;
}

class CuttableSocket extends WebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol);
    window.cut = () => this.close();
  }
}

function Session(): ReactElement {
  const { hub, state, error } = useHub();
  return show('session', { userId: hub?.userId, state, error });
}

function Remote({ remotename, greeting, description, longest }: Settings): ReactElement {
  const remote = useRemote(remotename, {
    greet: {
      description,
      parameters: z.object({
        name: z.string().refine((name) => name.length <= longest, `at most ${longest} letters`),
      }),
      handler: ({ name }) => `${greeting} ${name}`,
    },
    wait: {
      handler: async (_args, { signal, ...call }) => {
        call.progress('waiting');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        window.aborted = String(signal.reason);
      },
    },
    finish: {
      handler: async (_args, call) => {
        call.progress('waiting');
        await new Promise((resolve) => window.addEventListener('finish', resolve, { once: true }));
        return greeting;
      },
    },
  });
  return show('remote', remote);
}

function Remotes(): ReactElement {
  const { remotes, isPending, error } = useRemotes();
  return show('remotes', { names: remotes.map(({ remotename }) => remotename), isPending, error });
}

function Call(): ReactElement {
  const { call, cancel, ...view } = useCall('node', 'work');
  window.start = (what, value = '') => {
    if (what === 'call') void call({ value });
    else cancel();
  };
  return show('call', view);
}

function Run(): ReactElement {
  const { prompt, cancel: _, ...view } = useRun();
  window.start = (_what, agentId = '', instruction = '', remotes = '') => {
    void prompt(agentId, instruction, { remotes: [remotes] });
  };
  return show('run', { ...view, events: view.events.map(({ action }) => action) });
}

const parts = { remote: Remote, remotes: Remotes, call: Call, run: Run };

const connection = { url: location.origin, reconnect: { delayMs: 100 }, WebSocket: CuttableSocket };

function App(): ReactElement | null {
  const [settings, setSettings] = useState(initial);
  const [ownHub, setOwnHub] = useState<Hub | undefined>(undefined);
  window.change = (changed) => setSettings((before) => ({ ...before, ...changed }));
  window.useOwnHub = async () => {
    window.ownHub = await connect(location.origin, { token: settings.token });
    setOwnHub(window.ownHub);
  };
  if (!settings.isOpen) return null;
  const children = [
    createElement(Session, { key: 'session' }),
    ...settings.parts.map((part) =>
      createElement(parts[part], { ...settings, key: `${part}${settings.generation}` }),
    ),
  ];
  return ownHub === undefined
    ? createElement(HubProvider, { ...connection, token: settings.token }, children)
    : createElement(HubProvider, { hub: ownHub }, children);
}

const root = document.querySelector('#root');
if (root !== null) createRoot(root).render(createElement(StrictMode, null, createElement(App)));
