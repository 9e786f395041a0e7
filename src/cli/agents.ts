/** `synod agents`: who is here, and when they were last heard of. */
import type { Command } from 'commander';
import { collect, given, handle } from './context.ts';
import { ageText } from './message-text.ts';
import { columns } from './terminal.ts';

interface AgentView {
  readonly agent_id: string;
  readonly presence_state: string;
  /** Nanoseconds; 0 is never. */
  readonly last_heartbeat_at: number;
}

export function registerAgents(program: Command): void {
  const command = program
    .command('agents')
    .description('list agents and their presence')
    .option('--status <state>', 'online, busy, stale or offline; may be repeated', collect);
  handle<{ status?: readonly string[] }>(command, async ({ flags, call, show, remark }) => {
    const answer = await call('list_agents', given({ status_filter: flags.status }));
    const agents = answer.agents as AgentView[];
    const now = Date.now();
    const seen = (at: number) =>
      at === 0 ? 'never seen' : `${ageText((now - at / 1e6) / 1000)} ago`;
    show(answer, () =>
      columns(agents.map((one) => [one.agent_id, one.presence_state, seen(one.last_heartbeat_at)])),
    );
    if (agents.length === 0) remark('no agents yet');
  });
}
