import { createModelContext, type ModelContextTool } from '@remotes-hub/client/model-context';
import { expect, test } from 'vitest';

const tool: ModelContextTool = {
  name: 'greet',
  description: 'Greets.',
  execute: ({ name }) => `Hello ${JSON.stringify(name)}`,
};

test('WEBMCP-10: the own registry refuses what browsers refuse', async () => {
  const context = createModelContext();
  await context.registerTool(tool);
  const aborted = AbortSignal.abort(new Error('too late'));

  await expect(context.registerTool(tool)).rejects.toMatchObject({ name: 'InvalidStateError' });
  await expect(context.registerTool({ ...tool, name: 'a b' })).rejects.toThrow('the name of a tool has');
  await expect(context.registerTool({ ...tool, name: 'x'.repeat(129) })).rejects.toThrow(
    'the name of a tool has',
  );
  await expect(context.registerTool({ ...tool, name: 'x', description: '' })).rejects.toThrow(
    'no description',
  );
  await expect(context.registerTool({ ...tool, name: 'x', inputSchema: [] })).rejects.toThrow(TypeError);
  await expect(context.registerTool({ ...tool, name: 'x' }, { signal: aborted })).rejects.toThrow('too late');
  expect(() => context.provideContext({ tools: [tool, tool] })).toThrow('two tools have one name');
  expect((await context.getTools()).map(({ name }) => name)).toEqual(['greet']);
});

test('WEBMCP-10: toolchange comes after a tool was registered and unregistered', async () => {
  const context = createModelContext();
  const changes: string[] = [];
  context.addEventListener('toolchange', () => changes.push('event'));
  context.ontoolchange = ({ type }) => changes.push(type);
  const controller = new AbortController();

  await context.registerTool(tool, { signal: controller.signal });
  await context.getTools();
  expect(changes).toEqual(['event', 'toolchange']);
  controller.abort();
  await context.getTools();
  expect(changes).toHaveLength(4);
});

test('WEBMCP-10: the signal of an earlier tool does not unregister a later one of its name', async () => {
  const context = createModelContext();
  const controller = new AbortController();
  await context.registerTool(tool, { signal: controller.signal });
  context.provideContext({ tools: [{ ...tool, description: 'Greets better.' }] });

  controller.abort();

  expect(await context.getTools()).toMatchObject([{ name: 'greet', description: 'Greets better.' }]);
});

test('WEBMCP-10: a tool runs with a copy of its input and gives a text', async () => {
  const context = createModelContext();
  await context.registerTool(tool);
  await context.registerTool({ name: 'nothing', description: 'Nothing.', execute: () => undefined });
  await context.registerTool({ name: 'list', description: 'A list.', execute: () => [1, 2] });
  const [greet, nothing, list] = await context.getTools();
  if (greet === undefined || nothing === undefined || list === undefined) throw new Error('they are there');

  expect(await context.executeTool(greet, { name: 'Ada' })).toBe('Hello "Ada"');
  expect(await context.executeTool(nothing)).toBeNull();
  expect(await context.executeTool(list)).toBe('[1,2]');
  await expect(context.executeTool(greet, [])).rejects.toThrow(TypeError);
  context.unregisterTool('greet');
  await expect(context.executeTool(greet, {})).rejects.toMatchObject({ name: 'UnknownError' });
});

test('WEBMCP-10: aborting an execution rejects with the reason and aborts the signal of the tool', async () => {
  const context = createModelContext();
  let inner: AbortSignal | undefined;
  await context.registerTool({
    ...tool,
    execute: async (_input, { signal }) => {
      inner = signal;
      return new Promise(() => undefined);
    },
  });
  const [registered] = await context.getTools();
  if (registered === undefined) throw new Error('it is there');
  const controller = new AbortController();

  const execution = context.executeTool(registered, {}, { signal: controller.signal });
  controller.abort('enough');

  await expect(execution).rejects.toBe('enough');
  expect(inner?.reason).toBe('enough');
});
