import { expect, test } from 'vitest';
import { agentOf } from './mcp.ts';

test.each([
  [{ SOX_AGENT_ID: 'a', SOX_AGENT_ID_SOURCE: 'env:X', X: 'b' }, [], 'a'],
  [{ SOX_AGENT_ID_SOURCE: 'env:X', X: 'b', CLAUDE_AGENT_NAME: 'c' }, [], 'b'],
  [{ SOX_AGENT_ID_SOURCE: 'arg:2' }, ['x', 'y'], 'y'],
  [{ SOX_AGENT_ID_SOURCE: 'claude_code_agent_name', CLAUDE_AGENT_NAME: 'c' }, [], 'c'],
  [{ SOX_AGENT_ID_SOURCE: 'claude_code_agent_name' }, [], undefined],
  [{ CLAUDE_AGENT_NAME: 'c' }, [], 'c'],
  [{}, [], undefined],
])('[CL9] with %j and %j the agent is %s', (env, args, agent) => {
  expect(agentOf(env, args)).toBe(agent);
});

test.each(['env:UNSET', 'arg:1', 'guess'])(
  '[CL9] the source %s that names nobody is refused',
  (source) => {
    expect(() => agentOf({ SOX_AGENT_ID_SOURCE: source }, [])).toThrow('names nobody');
  },
);
