/** The page of model-context.test.ts: serves its tools, which are the browser's own where it has them. */
import { connect } from '@remotes-hub/client';
import { createModelContext, serveModelContext, type ModelContext } from '@remotes-hub/client/model-context';

declare global {
  interface Document {
    readonly modelContext?: ModelContext;
  }
  interface Window {
    isNative: boolean;
    /** Registers one more tool; the function that it leaves unregisters it. */
    registerMore(): Promise<void>;
    unregisterMore(): void;
    finish(): void;
    aborted: string;
    stop(): Promise<void>;
  }
}

const tools = document.modelContext ?? createModelContext();
window.isNative = tools === document.modelContext;
window.aborted = '';

await tools.registerTool({
  name: 'get_title',
  description: 'The title of the page.',
  annotations: { readOnlyHint: true },
  execute: () => document.title,
});
await tools.registerTool({
  name: 'set_title',
  description: 'Sets the title of the page.',
  inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  execute: ({ title }) => {
    if (typeof title === 'string') document.title = title;
    return { content: [{ type: 'text', text: 'set' }], structuredContent: { title: document.title } };
  },
});
await tools.registerTool({
  name: 'buy',
  description: 'Buys what is sold out.',
  execute: () => ({ content: [{ type: 'text', text: 'sold out' }], isError: true }),
});
await tools.registerTool({
  name: 'wait',
  description: 'Waits until it is told to finish.',
  execute: async (_input, { signal }) =>
    new Promise((resolve) => {
      document.title = 'waiting';
      window.finish = () => resolve('finished');
      signal.addEventListener('abort', () => {
        window.aborted = String(signal.reason);
      });
    }),
});

const more = new AbortController();
window.registerMore = async () => {
  const tool = { name: 'more', description: 'One more.', execute: () => 'more' };
  await tools.registerTool(tool, { signal: more.signal });
};
window.unregisterMore = () => more.abort();

const hub = await connect(location.origin, { token: sessionStorage.getItem('token') ?? '' });
const page = await serveModelContext(hub, 'page', window.isNative ? {} : { modelContext: tools });
window.stop = async () => page.stop();
