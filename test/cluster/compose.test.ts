import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { resolveConfig, type LoadedConfig } from '../../server/src/config/load-config.js';
import { repository } from '../support/documentation.js';
import { startTestHub } from '../support/hub.js';
import { freePort } from '../../scripts/benchmark/ports.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';
import { balancerFile, balancerNote, balancerPath, balancerVariables } from './balancer.js';

// No YAML parser is among the dependencies, so what is checked is read line by line; prettier parses the file.
const compose = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');
const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8');
const env = { REMOTES_HUB_SECRET: 'a secret of thirty-two bytes, ok', REDIS_URL: 'redis://redis:6379' };

/** The text under a key of the given depth, without its indentation. */
function section(key: string, depth: number): string {
  const indent = ' '.repeat(depth);
  const lines = compose.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`${indent}${key}`));
  expect(start, `${key} is there`).toBeGreaterThanOrEqual(0);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line !== '' && !line.startsWith(`${indent} `));
  return rest
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.slice(depth + 2))
    .join('\n');
}

/** The list under a key: in one line, or with a line for each. */
function list(key: string, text: string): string[] {
  const [, flow, block] = new RegExp(`^ *${key}:(?: \\[(.*)\\]$|\\n((?: *- .*\\n)+))`, 'mu').exec(text) ?? [];
  const items = flow?.split(', ') ?? block?.match(/(?<=- ).*/gu) ?? [];
  return items.map((item) => item.replace(/^(['"])(.*)\1$/u, '$2'));
}

/** @throws it is not JSON, or does not fit */
function readConfig(text: string | undefined): LoadedConfig {
  const config: unknown = JSON.parse(text ?? '');
  return resolveConfig(config, { env });
}

test('the configuration of the nodes in docker-compose.yml is one, and needs what it is given', () => {
  const { config, secrets } = readConfig(/^ +content: \|\n([\s\S]*)$/mu.exec(compose)?.[1]);
  expect(config.redis).toMatchObject({ cluster: false, prefix: 'remotes-hub' });
  expect(secrets).toMatchObject({ authSecret: env.REMOTES_HUB_SECRET, redisUrl: env.REDIS_URL });
  const environment = section('environment:', 2);
  for (const name of Object.keys(env)) expect(environment).toMatch(new RegExp(`^ *${name}: `, 'mu'));
  expect(environment).toContain(`REDIS_URL: ${env.REDIS_URL}\n`);
});

test('what docker-compose.yml and the Dockerfile name is there', () => {
  const files = [...compose.matchAll(/^ +file: (.*)$/gmu)].map(([, file = '']) => file);
  expect(files).toEqual(['deploy/haproxy.cfg']);
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.*) \S+$/gmu)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  expect(copied.length).toBeGreaterThan(8);
  for (const file of [...files, ...copied, 'Dockerfile'])
    expect([file, existsSync(join(repository, file))]).toEqual([file, true]);
});

const nodeCheck = list('test', section('x-hub:', 0));
const imageCheck = z
  .array(z.string())
  .parse(JSON.parse(/(?<=^ +CMD )\[.*\]$/mu.exec(dockerfile)?.[0] ?? '[]'));

/** Runs the command of a health check as Docker would, without a shell. @returns its exit code */
async function run(words: readonly string[]): Promise<number | null> {
  const [command = '', ...args] = words.filter((word) => word !== 'CMD');
  const child = spawn(command, args, { stdio: 'ignore' });
  await once(child, 'close');
  return child.exitCode;
}

test(
  'the health checks of node and image tell a node that is ready from one that is not',
  { timeout: 60_000 },
  async () => {
    await using hub = await startTestHub();
    const { port } = new URL(hub.url);
    const onPort = (command: readonly string[], of: string | number): string[] =>
      command.map((word) => word.replace('7465', String(of)));
    expect(await run(onPort(nodeCheck, port))).toBe(0);
    expect(await run(onPort(imageCheck, port))).toBe(0);
    const nobody = await freePort();
    expect(await run(onPort(nodeCheck, nobody))).toBe(1);
    expect(await run(onPort(imageCheck, nobody))).toBe(1);
    await using alone = await startTestHub({ redis: { url: `redis://127.0.0.1:${nobody}` } });
    expect(await run(onPort(nodeCheck, new URL(alone.url).port))).toBe(1); // nothing new without Redis,
    expect(await run(onPort(imageCheck, new URL(alone.url).port))).toBe(0); // and no reason to restart it
  },
);

test.skipIf(redisPath === undefined)(
  `Redis takes the arguments of docker-compose.yml, and its health check tells${redisNote}`,
  async () => {
    const [program, ...more] = list('command', section('redis:', 2));
    expect(program).toBe('redis-server');
    await using redis = await RedisServer.start({ more });
    expect(await redis.command('CONFIG GET maxmemory-policy')).toContain('noeviction');
    expect(await redis.command('CONFIG GET client-output-buffer-limit')).toContain(
      'pubsub 268435456 134217728 30',
    );
    expect(await redis.command('CONFIG GET appendonly')).toContain('no');
    const onPort = (port: number): string[] =>
      list('test', section('redis:', 2)).flatMap((word) =>
        word === 'redis-cli' ? [word, '-p', String(port)] : word,
      );
    expect(await run(onPort(redis.port))).toBe(0);
    expect(await run(onPort(await freePort()))).toBe(1);
  },
);

test.skipIf(balancerPath === undefined)(
  `HAProxy takes the configuration of the balancer${balancerNote}`,
  () => {
    const variables = balancerVariables(7465, ['127.0.0.1:1', '127.0.0.1:2']);
    const { status, stderr } = spawnSync(balancerPath ?? '', ['-c', '-f', balancerFile], { env: variables });
    expect([status, stderr.toString()]).toEqual([0, expect.not.stringMatching(/WARNING|ALERT/u)]);
    const environment = section('environment:', 4); // of the balancer, the first with this indentation
    for (const name of ['BALANCER_BIND', 'HUB_1', 'HUB_2'])
      expect(environment).toMatch(new RegExp(`^ *${name}: `, 'mu'));
  },
);

test('the configuration of several nodes in the server README fits, with the variables that it names', () => {
  const page = readFileSync(join(repository, 'server/README.md'), 'utf8');
  const [, text] = /^## Several nodes\n[\s\S]*?^```json\n([\s\S]*?)^```$/mu.exec(page) ?? [];
  const { config, secrets } = readConfig(text);
  expect(config.redis?.url).toBe('env:REDIS_URL');
  expect(secrets.redisUrl).toBe(env.REDIS_URL);
});
