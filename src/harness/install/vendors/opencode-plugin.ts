/**
 * The plugin that opencode loads, as text. It reports what happens to the same script that the
 * hooks of the others call, and carries out the answer: refuses a tool, adds to an output, or gives an
 * idle session its next prompt. When Synod is silent, late or gone, opencode goes on as if the plugin
 * were not there. opencode takes every export for a plugin, so there is exactly one.
 */
import { sealText } from '../seal.ts';
import { HOOK_TIMEOUT_SECONDS } from '../shim.ts';

/** `gates`: so many seconds a permission prompt waits for people; null: not at all. */
export function opencodePlugin(gates: number | null = null): string {
  return sealText(PLUGIN.replace('GATES_WAIT', String(gates)), 'slashes');
}

const PLUGIN = `// Written by "synod install"; "synod uninstall" removes it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const SESSIONS_MAX = 1000;
const WAITING_MAX = 16;
const PAUSE_MS = 5000;
const PROMPT_MAX = 100000;
/** Seconds that a permission prompt waits for people at a gate; null: it is only told. */
const GATES = GATES_WAIT;
const hook = join(process.env.SYNOD_HOME || join(homedir(), '.synod'), 'bin', 'hook');

/** Sessions that wait for mail, each with what waits for it. */
const waiting = new Map();

/** Somebody speaks: nothing need wait any more. */
function stir(session) {
  const child = waiting.get(session);
  waiting.delete(session);
  child?.kill();
}

/** Until something comes for an idle session; it is asked again when the hub's patience is over. */
function rest(session, wake) {
  if (waiting.has(session) || waiting.size >= WAITING_MAX || !existsSync(hook)) return;
  const since = Date.now();
  const child = spawn(hook, ['opencode', 'wake', session], { stdio: ['ignore', 'pipe', 'ignore'] });
  waiting.set(session, child);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.on('error', () => {});
  child.on('close', () => {
    if (waiting.get(session) !== child) return;
    waiting.delete(session);
    let prompt;
    try {
      ({ prompt } = JSON.parse(text));
    } catch {}
    if (typeof prompt === 'string') void wake(prompt);
    // A hub that is not there answers at once.
    else setTimeout(() => rest(session, wake), Date.now() - since < 1000 ? PAUSE_MS : 0).unref?.();
  });
  child.unref();
  child.stdout.unref?.();
}
process.on('exit', () => {
  for (const child of waiting.values()) child.kill();
});

/** The answer of the hub to an event, or {} when there is none in time. */
function ask(event, more = [], seconds = 0) {
  if (!existsSync(hook)) return Promise.resolve({});
  return new Promise((resolve) => {
    const child = spawn(hook, ['opencode', ...more], { stdio: ['pipe', 'pipe', 'ignore'] });
    const timer = setTimeout(() => child.kill(), seconds * 1000 + ${HOOK_TIMEOUT_SECONDS * 1000});
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.stdin.on('error', () => {});
    const finish = () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(text) ?? {});
      } catch {
        resolve({});
      }
    };
    child.on('error', finish);
    child.on('close', finish);
    child.stdin.end(JSON.stringify(event));
  });
}

/** What a person is asked, in opencode's words of this version or the one before. */
function askedOf({ type, properties = {} }) {
  if (type === 'question.asked') return { message: properties.questions?.[0]?.question };
  if (type !== 'permission.asked' && type !== 'permission.updated') return null;
  const { id, permission, type: kind, patterns, title, metadata } = properties;
  return {
    tool_name: permission ?? kind,
    tool_use_id: id,
    tool_input: { description: title ?? patterns?.join?.(', '), patterns, ...metadata },
  };
}

/** A person answered at a gate; the dialog is then answered so. Without an answer it stays as it is. */
async function answer(client, session, id, { reply, message }) {
  if (reply !== 'once' && reply !== 'reject') return;
  const raw = client._client;
  const path = { requestID: id };
  const url = '/permission/{requestID}/reply';
  const headers = { 'Content-Type': 'application/json' };
  const said = await raw?.post?.({ url, path, headers, body: { reply, message } });
  if (said && !said.error) return;
  // The one before had another door, which takes no words.
  const [at, body] = [{ id: session, permissionID: id }, { response: reply }];
  await client.postSessionIdPermissionsPermissionId?.({ path: at, body });
}

export const Synod = async ({ client, directory }) => {
  // Sessions that another session started: its agent answers for them.
  const children = new Set();
  const report = (name, session, rest) =>
    ask({ hook_event_name: name, session_id: session, cwd: directory, ...rest });
  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {};
      const session = sessionID ?? info?.id;
      if (!session) return;
      if (event.type === 'session.created') {
        if (info?.parentID && children.size < SESSIONS_MAX) children.add(session);
        await report(event.type, session, { source: info?.parentID ? 'subagent' : 'startup' });
      }
      if (event.type === 'session.deleted') {
        stir(session);
        children.delete(session);
        await report(event.type, session, {});
      }
      const asked = askedOf(event);
      if (asked?.tool_use_id && GATES !== null) {
        // Beside the dialog, and beside all else that happens meanwhile.
        const told = { hook_event_name: 'permission.asked', session_id: session, cwd: directory };
        ask({ ...told, ...asked }, ['gate', String(GATES)], GATES)
          .then((said) => answer(client, session, asked.tool_use_id, said))
          .catch(() => {});
      } else if (asked) await report('permission.asked', session, asked);
      if (/^(permission|question)\\.(replied|rejected)$/.test(event.type)) {
        const { requestID, permissionID } = event.properties;
        await report('permission.replied', session, { tool_use_id: requestID ?? permissionID });
      }
      if (event.type !== 'session.idle' || children.has(session)) return;
      const say = (text) => {
        const request = { path: { id: session }, body: { parts: [{ type: 'text', text }] } };
        const { session: sessions } = client;
        return sessions.promptAsync ? sessions.promptAsync(request) : sessions.prompt(request);
      };
      const { prompt } = await report(event.type, session, {});
      if (typeof prompt === 'string') await say(prompt);
      else rest(session, say);
    },
    'chat.message': async (input, output) => {
      stir(input.sessionID);
      const texts = output.parts.filter((part) => part.type === 'text').map(({ text }) => text);
      const prompt = texts.join('\\n').slice(0, PROMPT_MAX);
      const { append } = await report('chat.message', input.sessionID, { prompt });
      if (typeof append !== 'string') return;
      const last = output.parts.findLast((part) => part.type === 'text');
      if (last) last.text = \`\${last.text}\\n\\n\${append}\`;
    },
    'tool.execute.before': async (input, output) => {
      const answer = await report('tool.execute.before', input.sessionID, {
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: output.args,
      });
      if (typeof answer.throw === 'string') throw new Error(answer.throw);
    },
    'tool.execute.after': async (input, output) => {
      const { append } = await report('tool.execute.after', input.sessionID, {
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: input.args,
      });
      if (typeof append !== 'string' || !output) return;
      if (typeof output.output === 'string') output.output = \`\${output.output}\\n\\n\${append}\`;
      else if (Array.isArray(output.content)) output.content.push({ type: 'text', text: append });
    },
  };
};
`;
