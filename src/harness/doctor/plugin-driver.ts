/**
 * A program that loads the opencode plugin and calls it as opencode does, told by lines of JSON-RPC what
 * happened. It is text because it runs in a process of its own: what a plugin does to its process it
 * shall not do to the doctor.
 */
export const PLUGIN_DRIVER = `
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [path] = process.argv.slice(-1);
const prompts = [];
const waiting = [];
const promptAsync = async ({ body }) => {
  const text = body?.parts?.find((part) => part.type === 'text')?.text ?? '';
  const give = waiting.shift();
  if (give) give(text);
  else prompts.push(text);
};
const client = { session: { promptAsync, prompt: promptAsync } };
const loaded = new Map();
async function hooksIn(directory) {
  if (!loaded.has(directory)) {
    const [plugin] = Object.values(await import(pathToFileURL(path).href));
    loaded.set(directory, await plugin({ client, directory, worktree: directory, project: {} }));
  }
  return loaded.get(directory);
}

let calls = 0;
async function fire({ event, session, directory, tool_name, tool_input, prompt }) {
  const hooks = await hooksIn(directory);
  const from = performance.now();
  const answer = {};
  if (event === 'chat.message') {
    const text = prompt ?? 'hello';
    const parts = [{ type: 'text', text }];
    await hooks[event]({ sessionID: session }, { message: {}, parts });
    const said = parts.map((part) => part.text).join('\\n');
    if (said !== text) answer.append = said.slice(text.length);
  } else if (event.startsWith('tool.')) {
    const input = { tool: tool_name, sessionID: session, callID: \`doctor-\${++calls}\` };
    try {
      await hooks[event](input, { args: tool_input });
    } catch (error) {
      answer.throw = error.message;
    }
  } else {
    const properties = { sessionID: session, info: { id: session } };
    await hooks.event({ event: { type: event, properties } });
  }
  return { answer, ms: performance.now() - from };
}

async function prompted() {
  const text = prompts.shift() ?? (await new Promise((resolve) => waiting.push(resolve)));
  return { text };
}

const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  let said;
  try {
    said = { result: await (method === 'fire' ? fire(params) : prompted()) };
  } catch (error) {
    said = { error: { code: -32000, message: error.message } };
  }
  process.stdout.write(\`\${JSON.stringify({ id, ...said })}\\n\`);
});
lines.on('close', () => process.exit(0));
`;
