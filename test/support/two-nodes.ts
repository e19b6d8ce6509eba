import type { TestProject } from 'vitest/node';
import { RedisServer } from './redis.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the Redis of the tests with two nodes is. */
    readonly redisUrl: string;
  }
}

/** Starts a Redis for all tests that run against two nodes. @returns what stops it */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await RedisServer.start();
  project.provide('redisUrl', redis.url);
  return async () => redis[Symbol.asyncDispose]();
}
