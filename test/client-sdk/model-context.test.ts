import { connect, type Hub } from '@remotes-hub/client';
import {
  createModelContext,
  serveModelContext,
  type PageModelContext,
  type RegisteredTool,
  type ServeModelContextOptions,
  type ToolSource,
} from '@remotes-hub/client/model-context';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestHub, type TestHub } from '../support/hub.js';

/** A page's own registry served as `page`, and a session that calls. */
interface World extends AsyncDisposable {
  readonly hub: TestHub;
  readonly serving: Hub;
  readonly caller: Hub;
  readonly tools: PageModelContext;
}

async function start(): Promise<World> {
  const hub = await startTestHub();
  const token = await hub.token();
  const serving = await connect(hub.url, { token });
  const caller = await connect(hub.url, { token });
  return {
    hub,
    serving,
    caller,
    tools: createModelContext(),
    [Symbol.asyncDispose]: async () => {
      await caller.close();
      await serving.close();
      await hub[Symbol.asyncDispose]();
    },
  };
}

const tool = (name: string, execute: () => unknown = () => name) => ({
  name,
  description: `The ${name}.`,
  execute,
});

async function served({ caller }: World): Promise<string[]> {
  const [remote] = await caller.list();
  return remote?.tools.map(({ name }) => name) ?? [];
}

async function serve(world: World, options: ServeModelContextOptions = {}) {
  return serveModelContext(world.serving, 'page', { modelContext: world.tools, ...options });
}

test('WEBMCP-01: the tools of a page are functions with description, schema and verb', async () => {
  await using world = await start();
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  await world.tools.registerTool({ ...tool('read'), inputSchema, annotations: { readOnlyHint: true } });
  await world.tools.registerTool({
    ...tool('pay'),
    annotations: { readOnlyHint: true, consequentialHint: true },
  });
  await world.tools.registerTool(tool('plain'));
  await world.tools.registerTool({ ...tool('inspect'), annotations: { debugging: true } });

  await using page = await serve(world);

  expect(page.toolNames).toEqual(['read', 'pay', 'plain']);
  expect(await world.caller.list()).toEqual([
    {
      remotename: 'page',
      tools: [
        { name: 'read', description: 'The read.', parameters: inputSchema, verb: 'get' },
        { name: 'pay', description: 'The pay.', verb: 'update' },
        { name: 'plain', description: 'The plain.' },
      ],
    },
  ]);
  await expect(world.caller.call('page', 'read', { n: 'one' })).rejects.toMatchObject({
    code: 'invalid-arguments',
  });
});

test('WEBMCP-02: what a tool gives is the result: JSON as its value, text as text, an MCP result taken apart', async () => {
  await using world = await start();
  const text = (value: string) => ({ type: 'text', text: value });
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const results: [string, unknown, unknown][] = [
    ['nothing', undefined, null],
    ['zero', 0, 0],
    ['list', [1, 'two'], [1, 'two']],
    ['words', 'just words', 'just words'],
    ['json', '{"a":1}', { a: 1 }],
    ['texts', { content: [text('one'), text('two')] }, 'one\ntwo'],
    ['structured', { content: [text('{"a":1}')], structuredContent: { a: 1 } }, { a: 1 }],
    ['picture', { content: [text('a'), image] }, { content: [text('a'), image] }],
    ['other', { content: 'of a letter' }, { content: 'of a letter' }],
  ];
  for (const [name, value] of results) await world.tools.registerTool(tool(name, () => value));
  await using _page = await serve(world);

  for (const [name, , expected] of results) {
    expect([name, await world.caller.call('page', name)]).toEqual([name, expected]);
  }
});

test('WEBMCP-02: a tool that fails, or says that it has, fails the call', async () => {
  await using world = await start();
  const content = [{ type: 'text', text: 'sold out' }];
  await world.tools.registerTool(tool('says', () => ({ content, isError: true })));
  await world.tools.registerTool(
    tool('throws', () => {
      throw new Error('no such seat');
    }),
  );
  await using _page = await serve(world);

  const failed = { code: 'function-failed', executed: 'yes' };
  await expect(world.caller.call('page', 'says')).rejects.toMatchObject({ ...failed, message: 'sold out' });
  await expect(world.caller.call('page', 'throws')).rejects.toMatchObject({
    ...failed,
    message: 'no such seat',
  });
});

test('WEBMCP-03: tools that come and go are served so, and a call in flight finishes', async () => {
  await using world = await start();
  let finish: (value: string) => void = () => undefined;
  let begun: () => void = () => undefined;
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const slow = async () => {
    begun();
    return new Promise((resolve) => {
      finish = resolve;
    });
  };
  const controller = new AbortController();
  await world.tools.registerTool(tool('slow', slow), { signal: controller.signal });
  await using page = await serve(world);
  const call = world.caller.call('page', 'slow');
  await hasBegun;

  await world.tools.registerTool(tool('later'));
  await expect.poll(() => served(world)).toEqual(['slow', 'later']);
  controller.abort();
  await expect.poll(() => served(world)).toEqual(['later']);
  finish('done at last');

  expect(await call).toBe('done at last');
  expect(page.toolNames).toEqual(['later']);
  world.tools.unregisterTool('later');
  await expect.poll(() => served(world)).toEqual([]);
  expect(await world.caller.list()).toEqual([{ remotename: 'page', tools: [] }]);
});

test('WEBMCP-03: a tool registered anew with the same spec runs anew without another connect', async () => {
  await using world = await start();
  let connects = 0;
  world.tools.provideContext({ tools: [tool('greet', () => 'before')] });
  await using _page = await serve(world);
  await world.caller.ping(); // the event of the first connect is past
  world.caller.on('remote-connected', () => (connects += 1));

  world.tools.provideContext({ tools: [tool('greet', () => 'after')] });

  await expect.poll(async () => world.caller.call('page', 'greet')).toBe('after');
  expect(connects).toBe(0);
});

test('WEBMCP-04: a call that nobody waits for aborts the signal of its tool', async () => {
  await using world = await start();
  const abort = new AbortController();
  let reason: unknown;
  await world.tools.registerTool({
    ...tool('wait'),
    execute: async (_input, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
        });
        abort.abort();
      }),
  });
  await using _page = await serve(world);

  await expect(world.caller.call('page', 'wait', {}, { signal: abort.signal })).rejects.toMatchObject({
    code: 'call-cancelled',
  });

  await expect.poll(() => reason).toMatchObject({ name: 'RemoteError', code: 'call-cancelled' });
});

test('WEBMCP-05: a tool whose schema the hub cannot use is reported and left out, the others are served', async () => {
  await using world = await start();
  const errors: unknown[] = [];
  await world.tools.registerTool(tool('good'));
  await world.tools.registerTool({ ...tool('bad'), inputSchema: { type: 'string' } });

  await using page = await serve(world, { onError: (error) => errors.push(error) });

  expect(errors).toMatchObject([{ code: 'invalid-schema' }]);
  expect(page.toolNames).toEqual(['good']);
  expect(await world.caller.call('page', 'good')).toBe('good');
});

test('WEBMCP-06: a filter says which tools are served', async () => {
  await using world = await start();
  world.tools.provideContext({ tools: [tool('mine'), tool('not_mine')] });

  await using page = await serve(world, { filter: ({ name }) => name === 'mine' });

  expect(page.toolNames).toEqual(['mine']);
});

test('WEBMCP-07: stopping disconnects the remote and follows no more, and so does the end of the session', async () => {
  await using world = await start();
  const page = await serve(world);
  await page.stop();
  await page.stop();
  await world.tools.registerTool(tool('late'));
  expect(await world.caller.list()).toEqual([]);

  const errors: unknown[] = [];
  await serve(world, { onError: (error) => errors.push(error) });
  await world.serving.close();
  await world.tools.registerTool(tool('later'));
  await world.caller.ping();

  expect(errors).toEqual([]);
});

test('WEBMCP-07: a name that is taken rejects at the start, and is reported when it was taken meanwhile', async () => {
  await using world = await start();
  const taken = await world.caller.serve('page', {});
  await expect(serve(world)).rejects.toMatchObject({ code: 'remote-already-connected' });
  await taken.disconnect();

  const errors: unknown[] = [];
  await using page = await serve(world, { onError: (error) => errors.push(error) });
  await world.caller.disconnect('page');
  await world.caller.serve('page', {});
  await world.tools.registerTool(tool('late'));
  await expect.poll(() => errors).toMatchObject([{ code: 'remote-already-connected' }]);
  expect(page.toolNames).toEqual([]);

  await world.caller.disconnect('page');
  await world.tools.registerTool(tool('later'));
  await expect.poll(() => served(world)).toEqual(['late', 'later']);
});

test('WEBMCP-08: where the browser has no model context, serving asks for one', async () => {
  await using world = await start();

  await expect(serveModelContext(world.serving, 'page')).rejects.toThrow(/createModelContext/u);
});

test('WEBMCP-09: texts in place of objects are understood, and of two tools with one name that of the page counts', async () => {
  await using world = await start();
  const inputs: unknown[] = [];
  const frameTool: RegisteredTool = { name: 'f', description: 'Of a frame.', inputSchema: '', window: {} };
  const pageTool: RegisteredTool = {
    name: 'f',
    description: 'Of the page.',
    inputSchema: '{"type":"object"}',
    window: globalThis,
  };
  const browser: ToolSource = {
    getTools: async () => [frameTool, pageTool],
    executeTool: async (registered, input) => {
      inputs.push(registered.description, input);
      return '"done"';
    },
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  };

  await using _page = await serve(world, { modelContext: browser });

  expect(await world.caller.call('page', 'f', { n: 1 })).toBe('done');
  expect(inputs).toEqual(['Of the page.', '{"n":1}']);
});

test('WEBMCP-14: tools that change while the connection is lost are served when it is back', async () => {
  await using world = await start();
  const sockets: WebSocket[] = [];
  class Recorded extends WebSocket {
    constructor(url: string, protocol: string) {
      super(url, protocol);
      sockets.push(this);
    }
  }
  const token = await world.hub.token();
  await using serving = await connect(world.hub.url, {
    token,
    WebSocket: Recorded,
    reconnect: { delayMs: 50 },
  });
  await world.tools.registerTool(tool('early'));
  await using page = await serveModelContext(serving, 'page', { modelContext: world.tools });

  serving.on('state', async ({ state }) => {
    if (state === 'reconnecting') await world.tools.registerTool(tool('late'));
  });
  sockets[0]?.terminate();

  await expect.poll(() => served(world)).toEqual(['early', 'late']);
  expect(await world.caller.call('page', 'late')).toBe('late');
  await expect.poll(() => page.toolNames).toEqual(['early', 'late']);
});
