import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { redisPath } from './test/support/redis.js';

// What holds on one node holds on two: the same tests, with the sessions of each spread over both.
const twoNodes: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'two nodes',
    include: [
      'test/server/calls/*.test.ts',
      'test/server/remotes/*.test.ts',
      'test/server/agents/hub-*.test.ts',
    ],
    exclude: [
      // bounds of one node, and the memory of one
      'test/server/calls/resuming-bounds.test.ts',
      'test/server/remotes/schema-isolation.test.ts',
      // a fake clock stands still for what is on its way between nodes
      'test/server/calls/interleavings-on-sockets.test.ts',
      // the host program is on one node, and does not wait for the other
      'test/server/remotes/host-*.test.ts',
    ],
    env: { TEST_NODES: '2' },
    globalSetup: ['test/support/two-nodes.ts'],
  },
};

// The packages are tested from their sources: the `hub-source` condition of their exports. The commands that tests start
// are the built ones.
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['hub-source', 'node', 'import', 'default'],
      externalConditions: ['hub-source', 'node', 'import', 'default'],
    },
  },
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
    // no module keeps state, so the files of a worker share them: loading all anew for each took most of the time
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'one node',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/built-packages.ts'],
        },
      },
      // without Redis there can be no two; scripts/test says so
      ...(redisPath === undefined ? [] : [twoNodes]),
    ],
  },
});
