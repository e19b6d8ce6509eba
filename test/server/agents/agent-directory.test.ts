import { expect, test } from 'vitest';
import { AgentDirectory } from '../../../server/src/agents/agent-directory.js';
import { agent } from './run-fixtures.js';

test('RUN-01: an agent is found by its id, where 7 and "7" are the same', () => {
  const agents = new AgentDirectory([agent, { ...agent, id: 'writer', name: 'Writer' }]);
  expect(agents.find(7)?.name).toBe('Helper');
  expect(agents.find('7')?.name).toBe('Helper');
  expect(agents.find('writer')?.name).toBe('Writer');
  expect(agents.find('07')).toBeUndefined();
  expect(agents.find('constructor')).toBeUndefined();
});

test('two agents with one id are refused, and the error names it', () => {
  expect(() => new AgentDirectory([agent, { ...agent, id: '7' }])).toThrow(
    "agents: the id '7' is used twice",
  );
});

test('RUN-10: agents are listed in their order, with their ids as configured and their native tools', () => {
  const agents = new AgentDirectory([agent, { ...agent, id: 'writer', name: 'Writer', tools: [] }]);
  expect(agents.list()).toEqual([
    { agentId: 7, name: 'Helper', tools: ['current_time'] },
    { agentId: 'writer', name: 'Writer', tools: [] },
  ]);
});
