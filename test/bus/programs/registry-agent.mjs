// An agent of a registry, for the tests: does what the first word of its prompt says. No library, so
// that it can misbehave. Writes its process id and arguments to the file named by PID_FILE.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

if (process.env.PID_FILE) {
  const { pid, argv, env } = process;
  appendFileSync(process.env.PID_FILE, `${JSON.stringify({ pid, args: argv.slice(2), env })}\n`);
}
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = new Map();
let count = 0;
let asked = 0;

const ask = (method, params) =>
  new Promise((resolve) => {
    asked += 1;
    waiting.set(asked, resolve);
    send({ id: asked, method, params });
  });
const say = (sessionId, text) => {
  const content = { type: 'text', text };
  send({
    method: 'session/update',
    params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } },
  });
};
const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];

const METHODS = {
  initialize: () => ({
    result: { protocolVersion: 1, authMethods: [{ id: 'oauth', name: 'OAuth' }] },
  }),
  'session/new': ({ params, headers }) => {
    if (params.cwd === '/auth' && headers === undefined)
      return { error: { code: -32000, message: 'Authentication required' } };
    count += 1;
    const sessionId = `agent-${process.pid}-${count}`;
    // Before its answer, as some agents do.
    send({ method: 'session/update', params: { sessionId, update: { early: true } } });
    return { result: { sessionId, mcpServers: params.mcpServers, headers } };
  },
  'session/prompt': async ({ params }) => {
    const [word] = params.prompt[0].text.split(' ');
    const { sessionId } = params;
    if (word === 'die') process.exit(7);
    if (word === 'hang') return null;
    if (word === 'noise') process.stdout.write('this is not JSON\n');
    if (word === 'permission') {
      const answer = await ask('session/request_permission', {
        sessionId,
        toolCall: { toolCallId: 't', title: 'rm -rf' },
        options,
      });
      say(sessionId, JSON.stringify(answer.result ?? answer.error));
    } else if (word === 'read') {
      const answer = await ask('fs/read_text_file', { sessionId, path: '/x' });
      say(sessionId, JSON.stringify(answer.result ?? answer.error));
    } else say(sessionId, `heard ${params.prompt[0].text}`);
    return { result: { stopReason: 'end_turn' } };
  },
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) {
    waiting.get(message.id)?.(message);
    return;
  }
  if (message.id === undefined) {
    const { method, params } = message;
    send({
      method: 'seen',
      params: { sessionId: params.sessionId ?? `agent-${process.pid}-1`, method, params },
    });
    return;
  }
  const unknown = () => ({ result: { seen: message } });
  const answer = await (METHODS[message.method] ?? unknown)(message);
  if (answer !== null) send({ id: message.id, ...answer });
});
