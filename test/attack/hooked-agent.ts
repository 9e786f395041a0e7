/** A coding agent that only its hooks tell of: it begins, uses tools, and is shown what was said meanwhile. */
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import type { AttackedHub } from './attacked-hub.ts';

interface HookedAgent {
  hook(name: string, more?: object): Promise<Json>;
  /** What the agent called claude reads after its next tool. */
  shown(): Promise<string>;
}

export async function beginHookedAgent(hub: AttackedHub): Promise<HookedAgent> {
  let tools = 0;
  const hook = async (name: string, more: object = {}): Promise<Json> => {
    const event = { session_id: 's', hook_event_name: name, cwd: hub.dir, ...more };
    const reply = await fetchReply(`${hub.url}/v1/hooks/claude`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hub.owner}` },
      body: JSON.stringify(event),
    });
    return reply.body;
  };
  await hook('SessionStart', { source: 'startup' });
  return {
    hook,
    async shown() {
      const tool_use_id = `t${++tools}`;
      const answer = await hook('PostToolUse', { tool_name: 'Read', tool_input: {}, tool_use_id });
      return answer.hookSpecificOutput?.additionalContext ?? '';
    },
  };
}
