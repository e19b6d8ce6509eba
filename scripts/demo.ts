/** What `scripts/demo` shows; every line it prints comes from what really happened. */
import { parseArgs } from 'node:util';
import { connect, RemoteError, type Hub } from '@remotes-hub/client';
import { createHub } from '@remotes-hub/server';

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });

const weatherService = {
  get_forecast: {
    description: 'Retrieve weather forecast for a location.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'City name.' } },
      required: ['city'],
    },
    handler: ({ city }: { city?: unknown }) => ({ forecast: 'sunny', city }),
  },
  take_a_nap: {
    description: 'Never answers.',
    handler: async () => new Promise<never>(() => undefined),
  },
};

say('1. A hub starts, on a free port.');
await using hub = createHub({
  config: {
    port: 0,
    auth: { secret: `${crypto.randomUUID()}${crypto.randomUUID()}` },
    agents: [
      { id: 'assistant', name: 'Offline assistant', model: { provider: 'offline' }, tools: ['current_time'] },
    ],
    log: { level: 'error' },
  },
});
const { url } = await hub.listen();
const { token } = await hub.issueToken('ada', 3_600_000);
show(`listening on ${url}; "ada" logs in with a token`);

say('2. A session serves two functions as the remote "weather-service".');
const server = await connect(url, { token });
await server.serve('weather-service', weatherService);
show(`session ${server.sessionId.slice(0, 8)} serves ${Object.keys(weatherService).join(' and ')}`);

say('3. Another session of ada lists what is connected, and calls it.');
const caller = await connect(url, { token });
for (const { remotename, tools } of await caller.list())
  show(`${remotename}: ${tools.map(({ name }) => name).join(', ')}`);
show(
  `get_forecast {"city":"Rome"} -> ${JSON.stringify(await caller.call('weather-service', 'get_forecast', { city: 'Rome' }))}`,
);

say('4. Arguments are checked before they leave the hub.');
await failure(async () => caller.call('weather-service', 'get_forecast', { city: 5 }));

say('5. A call that is not answered in time fails; here within 300 ms instead of 30 s.');
await failure(async () => caller.call('weather-service', 'take_a_nap', {}, { timeoutMs: 300 }));

say('6. A call in flight fails at once when its remote goes away.');
const napping = failure(async () => caller.call('weather-service', 'take_a_nap'));
await caller.ping(); // the call is on its way
await caller.disconnect('weather-service');
await napping;

say('7. An agent uses the functions too: a prompt with options.remotes.');
await server.serve('weather-service', weatherService);
await prompt(caller, "What's the weather in Rome? Use your tools.");

if (values.keep) await keep();
await caller.close();
await server.close();
say('That was all. Next: README.md, or `scripts/demo --keep` to play with it.');

async function prompt(session: Hub, instruction: string): Promise<void> {
  show(`prompt: ${instruction}`);
  const run = await session.prompt('assistant', instruction, { remotes: ['weather-service'] });
  for await (const { action, body } of run) {
    if (action === 'run-started') show(`tools: ${body.tools.map(({ name }) => name).join(', ')}`);
    if (action === 'run-tool-call') show(`the agent calls ${body.name} ${JSON.stringify(body.args)}`);
    if (action === 'run-tool-result') show(`it gets ${body.content}`);
  }
  const { status, output } = await run.result;
  show(`${status}: ${output}`);
}

async function failure(call: () => Promise<unknown>): Promise<void> {
  try {
    show(`unexpected result: ${JSON.stringify(await call())}`);
    process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    show(`refused: ${error.message} (code ${error.code}, executed: ${error.executed})`);
  }
}

async function keep(): Promise<void> {
  say('The hub stays up. From another terminal, in this folder:');
  show(`export REMOTES_HUB_URL=${url}`);
  show(`export REMOTES_HUB_TOKEN=${token}`);
  show('npx remotes-hub list');
  show(`npx remotes-hub call weather-service get_forecast '{"city":"Oslo"}'`);
  show(`npx remotes-hub prompt assistant "What's the weather in Oslo?" --remote weather-service`);
  show('Ctrl-C ends it.');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}

function say(text: string): void {
  console.log(`\n${text}`);
}

function show(text: string): void {
  console.log(`   ${text}`);
}
