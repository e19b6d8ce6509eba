import {
  MAX_CALL_TIMEOUT_MS,
  MAX_FUNCTIONS_PER_REMOTE,
  MAX_JSON_DEPTH,
  MAX_MESSAGE_BYTES,
  MAX_SCHEMA_BYTES,
  MAX_TOOLS_BYTES,
  REMOTE_CALL_TIMEOUT_MS,
  agentIdSchema,
  userIdSchema,
} from '@remotes-hub/protocol';
import * as z from 'zod';
import { parseNetwork } from './network.js';
import { secretReferenceSchema } from './secret-references.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const count = (maximum: number) => z.int().min(1).max(maximum);
const milliseconds = (minimum: number, maximum: number) => z.int().min(minimum).max(maximum);

const pathSchema = (standard: string) =>
  z
    .string()
    .regex(/^\/[^?#\s]+$/, `expected a path such as "${standard}"`)
    .default(standard);

/** Bounds of everything that comes from outside. Every one has a default that suits one machine. */
export const limitsSchema = z.strictObject({
  maxMessageBytes: z
    .int()
    .min(KIB)
    .max(64 * MIB)
    .default(MAX_MESSAGE_BYTES)
    .describe('Largest frame, in bytes; a larger one closes the connection with 1009.'),
  maxJsonDepth: count(1_000).default(MAX_JSON_DEPTH).describe('Deepest nesting of a message.'),
  maxQueuedBytes: z
    .int()
    .min(2 * KIB)
    .max(1024 * MIB)
    .default(32 * MIB)
    .describe(
      'Bytes waiting for one slow session before it is closed with 4408. At least twice maxMessageBytes.',
    ),
  maxMessagesPerSecond: count(1_000_000)
    .default(50_000)
    .describe('Messages a second of one session; as many at once; more close it with 4429.'),
  maxSessions: count(1_000_000).default(50_000).describe('Sessions of all users.'),
  maxSessionsPerUser: count(1_000_000).default(10_000).describe('Sessions of one user.'),
  maxUnauthenticated: count(1_000_000)
    .default(1_000)
    .describe('Connections that have not logged in yet; beyond it the oldest are closed with 4401.'),
  maxUnauthenticatedPerAddress: count(1_000_000).default(100).describe('The same, of one address.'),
  authenticationTimeoutMs: milliseconds(100, 60_000)
    .default(10_000)
    .describe('Time to log in after connecting.'),
  maxAuthenticationFailures: count(100)
    .default(3)
    .describe('Failed logins on one connection before it is closed with 4401.'),
  maxAttemptsPerUser: count(1_000_000).default(10).describe('Failed logins a minute for one user name.'),
  maxAttemptsPerAddress: count(1_000_000).default(100).describe('Failed logins a minute from one address.'),
  maxRemotesPerSession: count(100_000).default(128).describe('Remotes that one session may serve.'),
  maxRemotesPerUser: count(100_000).default(1_024).describe('Remotes of one user.'),
  maxFunctionsPerRemote: count(MAX_FUNCTIONS_PER_REMOTE)
    .default(MAX_FUNCTIONS_PER_REMOTE)
    .describe('Functions of one remote.'),
  maxToolsBytes: z
    .int()
    .min(KIB)
    .max(MAX_TOOLS_BYTES)
    .default(MAX_TOOLS_BYTES)
    .describe('JSON text of the functions of one remote, in bytes.'),
  maxToolsBytesPerUser: z
    .int()
    .min(KIB)
    .max(256 * MIB)
    .default(16 * MIB)
    .describe('The same of all remotes of one user together.'),
  maxSchemaBytes: z
    .int()
    .min(KIB)
    .max(MAX_SCHEMA_BYTES)
    .default(MAX_SCHEMA_BYTES)
    .describe('JSON text of one schema, in bytes.'),
  maxSchemaDepth: count(256).default(64).describe('Deepest nesting of one schema.'),
  maxCallsInFlight: count(1_000_000)
    .default(16_384)
    .describe('Unanswered calls of one calling session, and to one serving session.'),
  callTimeoutMs: milliseconds(1, MAX_CALL_TIMEOUT_MS)
    .default(REMOTE_CALL_TIMEOUT_MS)
    .describe('Time for a call when neither caller nor function asks for another.'),
  maxCallTimeoutMs: milliseconds(1, MAX_CALL_TIMEOUT_MS)
    .default(MAX_CALL_TIMEOUT_MS)
    .describe('Longest time of a call, progress included.'),
  heartbeatMs: milliseconds(50, 600_000)
    .default(15_000)
    .describe('Time between pings; a peer silent for two of them is gone.'),
  probeTimeoutMs: milliseconds(10, 60_000)
    .default(2_000)
    .describe('Time for the holder of a wanted name to show that it lives.'),
  drainMs: milliseconds(0, 300_000)
    .default(0)
    .describe(
      'Time at shutdown between GET /readyz answering 503 and the end of the sessions, for load balancers to notice.',
    ),
  shutdownTimeoutMs: milliseconds(0, 60_000)
    .default(3_000)
    .describe('Time for peers to close at shutdown before they are cut off.'),
  maxRunsPerUser: count(10_000).default(16).describe('Runs of one user at a time.'),
  maxRunSteps: count(1_000).default(16).describe('Model steps of one run.'),
  runGraceMs: milliseconds(0, 3_600_000)
    .default(30_000)
    .describe("How long a run goes on after its user's last session has left."),
  maxConversationsPerUser: count(10_000)
    .default(64)
    .describe('Conversations kept of one user; beyond it the one unused for longest is forgotten.'),
  conversationTtlMs: milliseconds(1_000, 604_800_000)
    .default(3_600_000)
    .describe('How long an unused conversation is kept.'),
});

/** Every bound, complete. */
export type Limits = z.output<typeof limitsSchema>;

/** Algorithms that may be pinned for tokens of an outside issuer; a shared secret is HS256 alone. */
export const issuerAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const originSchema = z
  .string()
  .refine((text) => text === '*' || (URL.canParse(text) && new URL(text).origin === text), {
    error: 'expected an origin such as "https://app.example" (scheme, host and port, nothing after), or "*"',
  });

/** A password in an address would end up in errors of whoever asks there. */
export function hasNoUserinfo(address: string): boolean {
  if (!URL.canParse(address)) return true; // another check says so
  const { username, password } = new URL(address);
  return username === '' && password === '';
}

/** Who may log in, and from which pages. */
export const authSchema = z.strictObject({
  secret: secretReferenceSchema
    .optional()
    .describe(
      'HS256 key of tokens: at least 32 bytes of UTF-8. A reference ("env:NAME", "file:PATH") or the text itself.',
    ),
  issuer: z.string().min(1).optional().describe('Required `iss` of tokens.'),
  audience: z.string().min(1).optional().describe('Required `aud` of tokens.'),
  jwksUrl: z
    .url({ protocol: /^https?$/ })
    .refine(hasNoUserinfo, 'expected a URL without user and password')
    .optional()
    .describe('Key set of an outside issuer of tokens.'),
  algorithms: z
    .array(z.enum(issuerAlgorithms))
    .min(1)
    .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .describe('Algorithms accepted from the outside issuer.'),
  usersFile: z
    .string()
    .min(1)
    .optional()
    .describe('JSON file of users, as `remotes-hub user add` writes it; read again when it changes.'),
  users: z
    .array(
      z.strictObject({
        username: userIdSchema.describe('The name to log in with; also the user that sessions belong to.'),
        passwordHash: z.string().min(1).describe('As `remotes-hub user add` makes it.'),
      }),
    )
    .default([])
    .describe('Users in the configuration itself; they win over those of usersFile.'),
  allowedOrigins: z
    .array(originSchema)
    .optional()
    .describe(
      'Origins of pages that may connect, such as "https://app.example", or "*"; same origin only when absent.',
    ),
  tokenTtlSeconds: z
    .int()
    .min(1)
    .max(31_536_000)
    .default(3_600)
    .describe('Life of tokens that POST /v1/auth/token issues.'),
});
export type AuthConfig = z.output<typeof authSchema>;

const stepTimeoutSchema = milliseconds(100, 3_600_000)
  .default(120_000)
  .describe('Time for one answer of the model, retries included.');

const baseUrlSchema = z.url({ protocol: /^https?$/ });

const maxOutputTokensSchema = count(1_000_000);

/** A model that an agent runs on. */
export const modelSchema = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.literal('offline').describe('A deterministic matcher of words; not a language model.'),
  }),
  z.strictObject({
    provider: z
      .literal('openai-compatible')
      .describe('A server with OpenAI\'s chat completions; needs the package "openai".'),
    baseUrl: baseUrlSchema.describe(
      'Where it is, up to and without "/chat/completions", such as "http://127.0.0.1:11434/v1".',
    ),
    model: z.string().min(1).max(256).describe('The model, as the server names it.'),
    apiKey: secretReferenceSchema
      .optional()
      .describe('A reference ("env:NAME", "file:PATH"); absent for a server that asks for no key.'),
    maxOutputTokens: maxOutputTokensSchema.optional().describe('Most tokens of one answer.'),
    stepTimeoutMs: stepTimeoutSchema,
  }),
  z.strictObject({
    provider: z
      .literal('anthropic')
      .describe('Anthropic\'s Messages API; needs the package "@anthropic-ai/sdk".'),
    model: z.string().min(1).max(256).describe('The model, as Anthropic names it.'),
    baseUrl: baseUrlSchema.optional().describe("Another place than Anthropic's own."),
    apiKey: secretReferenceSchema.describe('A reference ("env:NAME", "file:PATH").'),
    maxOutputTokens: maxOutputTokensSchema.default(4_096).describe('Most tokens of one answer.'),
    stepTimeoutMs: stepTimeoutSchema,
  }),
]);
export type ModelConfig = z.output<typeof modelSchema>;

/** The key of a model's provider, as the configuration names it. */
export function apiKeyOf(model: ModelConfig): string | undefined {
  return model.provider === 'offline' ? undefined : model.apiKey;
}

/** Names of the native tools that the hub brings along. */
export const nativeToolNames = ['current_time'] as const;

/** Whether an entry of `agents[].tools` names a tool of the hub, and not a module. */
export function isBuiltInTool(entry: string): boolean {
  return nativeToolNames.some((name) => name === entry);
}

const nativeToolEntry =
  `expected ${nativeToolNames.map((name) => `"${name}"`).join(', ')}, or the path of a module, ` +
  'beginning with "./", "../" or "/"';

/** An entry of `agents[].tools`: a name, or a module by its path, which is told by how it begins. */
const nativeToolEntrySchema = z.union(
  [
    z.enum(nativeToolNames),
    z.string().regex(/^(?:\.{1,2}[\\/]|\/|[A-Za-z]:[\\/])./, { error: nativeToolEntry }),
  ],
  { error: nativeToolEntry },
);

/** An agent that sessions may prompt. */
export const agentSchema = z.strictObject({
  id: agentIdSchema.describe('How prompts name the agent: a string or an integer.'),
  name: z.string().min(1).max(128).describe('What people see.'),
  instructions: z.string().max(100_000).optional().describe('What the model is told before the prompt.'),
  model: modelSchema.describe('The model the agent runs on.'),
  tools: z
    .array(nativeToolEntrySchema)
    .max(1_000)
    .default([])
    .describe('Native tools: names of those of the hub, and paths of modules, such as "./my-tools.mjs".'),
  maxSteps: count(1_000)
    .optional()
    .describe('Model steps of one run; limits.maxRunSteps when absent, and never more.'),
  maxToolCalls: count(100_000).default(100).describe('Tool calls of one run.'),
  maxTokens: count(1_000_000_000)
    .optional()
    .describe('Tokens of one run, input and output together; without a bound when absent.'),
  timeoutMs: milliseconds(100, 86_400_000).default(600_000).describe('Time for one run.'),
});
export type AgentConfig = z.output<typeof agentSchema>;

/** Whether and how the hub shows its metrics. */
export const metricsSchema = z.strictObject({
  path: pathSchema('/metrics').describe('Path of the endpoint, beginning with "/".'),
  token: secretReferenceSchema
    .optional()
    .describe(
      'Whoever asks must have it, as Authorization: Bearer; at least 16 visible ASCII characters. A reference ("env:NAME", "file:PATH") or the text itself.',
    ),
});

/** The whole configuration: one JSON file (server/README.md, "Configuration"). */
export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('Where an editor finds the schema of this file.'),
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  port: z.int().min(0).max(65_535).default(7_465).describe('Port to listen on; 0 picks a free one.'),
  path: pathSchema('/ws').describe('Path of the WebSocket endpoint, beginning with "/".'),
  trustedProxies: z
    .array(
      z.string().refine((text) => parseNetwork(text) !== undefined, {
        error: 'expected an address or a network, such as "10.0.0.0/8"',
      }),
    )
    .max(100)
    .default([])
    .describe(
      'Addresses and networks of load balancers: they say in X-Forwarded-For whose connection it is, and limits per address count by that.',
    ),
  auth: authSchema.prefault({}).describe('Who may log in.'),
  limits: limitsSchema.prefault({}).describe('Bounds of everything that comes from outside.'),
  redis: z
    .strictObject({
      url: secretReferenceSchema.describe(
        'Where Redis (7 or newer) is: "redis://host:port", or "rediss://" with TLS. A reference ("env:NAME", ' +
          '"file:PATH"), or the URL itself.',
      ),
      cluster: z.boolean().default(false).describe('The URL names a node of a Redis Cluster.'),
      prefix: z
        .string()
        .regex(/^[\w.:-]{1,64}$/, 'expected 1 to 64 letters, digits, "_", ".", ":" and "-"')
        .default('remotes-hub')
        .describe('Begins the names of all keys and channels: hubs with different ones can share a Redis.'),
      leaseMs: milliseconds(500, 60_000)
        .default(5_000)
        .describe('How long a node that is not heard of any more keeps the names of its remotes.'),
    })
    .optional()
    .describe('Joins several nodes into one hub; without it, one node needs no service beside it.'),
  agents: z.array(agentSchema).max(1_000).default([]).describe('Agents that sessions may prompt.'),
  log: z
    .strictObject({
      level: z
        .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
        .default('info')
        .describe('Least severe level that is written.'),
    })
    .prefault({})
    .describe('Logging: JSON lines on standard output.'),
  metrics: metricsSchema
    .optional()
    .describe('Shows metrics for Prometheus; {} is enough. Without it there are none.'),
});

/** A complete configuration: every default filled in, secrets still as references. */
export type HubConfig = z.output<typeof configSchema>;

/** A configuration as it is written: everything optional. */
export type HubConfigInput = z.input<typeof configSchema>;
