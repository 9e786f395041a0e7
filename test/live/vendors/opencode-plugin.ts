/**
 * The source of an opencode plugin that does what the probe's hook does elsewhere: logs each moment
 * and obeys the answer left for it. It also wakes its own session when a file `wake` appears among
 * the answers, which is how a plugin of ours would do it when the hub speaks.
 */
import type { Probe } from '../probe.ts';

export function pluginSource({ log, answers }: Pick<Probe, 'log' | 'answers'>): string {
  return `
import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
const LOG = ${JSON.stringify(log)};
const ANSWERS = ${JSON.stringify(answers)};

function record(event, input) {
  const line = { kind: 'hook', event, input, parent: process.pid, env: {} };
  appendFileSync(LOG, JSON.stringify(line) + '\\n');
  for (const name of [event + '.once.json', event + '.json']) {
    const path = ANSWERS + '/' + name;
    if (!existsSync(path)) continue;
    const answer = JSON.parse(readFileSync(path, 'utf8'));
    if (name.endsWith('.once.json')) renameSync(path, ANSWERS + '/used');
    return answer;
  }
  return {};
}

export const SynodProbe = async ({ client }) => {
  let session;
  const prompt = (text) =>
    client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: 'text', text }] } });
  const timer = setInterval(() => {
    const path = ANSWERS + '/wake';
    if (session === undefined || !existsSync(path)) return;
    const text = readFileSync(path, 'utf8');
    renameSync(path, ANSWERS + '/woken');
    prompt(text);
  }, 25);
  timer.unref?.();
  return {
    event: async ({ event }) => {
      if (event.type === 'session.status') session = event.properties.sessionID;
      if (event.type !== 'session.idle' && event.type !== 'session.created') return;
      const { block } = record(event.type, event.properties);
      if (block !== undefined) await prompt(block);
    },
    'chat.message': async (input, output) => {
      const { inject } = record('chat.message', { ...input, parts: output.parts });
      const [first] = output.parts;
      if (inject !== undefined && first?.type === 'text') first.text += '\\n' + inject;
    },
    'tool.execute.before': async (input, output) => {
      const { deny } = record('tool.execute.before', { ...input, args: output.args });
      if (deny !== undefined) throw new Error(deny);
    },
    'tool.execute.after': async (input, output) => {
      const { inject } = record('tool.execute.after', input);
      if (inject === undefined) return;
      // The result of an MCP tool comes as the server gave it.
      if (Array.isArray(output.content)) output.content.push({ type: 'text', text: inject });
      else output.output += '\\n' + inject;
    },
  };
};
`;
}
