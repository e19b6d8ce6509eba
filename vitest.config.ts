import { defineConfig } from 'vitest/config';

// The packages are tested from their sources: the `hub-source` condition of their exports, no build.
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['hub-source', 'node', 'import', 'default'],
      externalConditions: ['hub-source', 'node', 'import', 'default'],
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
