/**
 * A small program that speaks as a vendor's does, for tests of clients: Codex's app-server, Claude Code's
 * stream-json, or ACP. What it does in a turn is what the prompt says, step by step: `say X`, `ask X`, `bad`,
 * `stray`, `hang`, `wait` (to be steered), `die`, `flood N`, `env`, `past`, `args`. It keeps sessions in a file
 * of its working directory, as the real ones do, so that another process finds them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type StandInKind = 'codex' | 'claude' | 'acp';
/** `old`: lacks a call or option; `plain`: ACP without fork; `yolo`: ACP that asks nobody. */
export type StandInWay = 'good' | 'old' | 'plain' | 'yolo';

export function writeClientStandIn(
  folder: string,
): (kind: StandInKind, way?: StandInWay) => string[] {
  const path = join(folder, 'client-stand-in.mjs');
  writeFileSync(path, SCRIPT);
  return (kind, way = 'good') => [process.execPath, path, kind, way];
}

const SCRIPT = String.raw`
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { randomUUID } from 'node:crypto';
const [kind, way, ...args] = process.argv.slice(2);
if (args.includes('--version')) { console.log('9.8.7 (stand-in)'); process.exit(0); }
const print = (value) => process.stdout.write(JSON.stringify(value) + '\n');
const FILE = 'sessions.json';
const load = () => existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
const keep = (id, past) => writeFileSync(FILE, JSON.stringify({ ...load(), [id]: past }));
const waiting = new Map();
let count = 0;
const ask = (message) => new Promise((resolve) => { const id = 'q' + ++count; waiting.set(id, resolve); print(message(id)); });
process.stderr.write('a line of stderr\n');

/** A turn: the steps of its prompt. hands: say, ask, usage. Answers false when it was interrupted. */
async function play(turn, prompt, past, hands) {
  let said = '';
  const say = (text) => { said = text; hands.say(text); };
  for (const step of prompt.split(';').map((one) => one.trim())) {
    if (turn.isOff) return null;
    const [word, ...rest] = step.split(' ');
    const text = rest.join(' ');
    if (word === 'say') say(text);
    else if (word === 'bad') process.stdout.write('{"half a message\n');
    else if (word === 'stray') { print({ id: 12345, result: {} }); print({ jsonrpc: '2.0', method: 'no/such', params: {} }); }
    else if (word === 'ask') say((await hands.ask(text)) ? 'done ' + text : 'not done ' + text);
    else if (word === 'hang') await new Promise((resolve) => { turn.off = resolve; });
    else if (word === 'wait') await new Promise((resolve) => { turn.off = resolve; turn.heard = resolve; if (turn.steers.length > 0) resolve(); });
    else if (word === 'steers') say(turn.steers.join('|'));
    else if (word === 'die') { process.stderr.write('it broke\n'); process.exit(3); }
    else if (word === 'flood') for (let n = 0; n < Number(text); n++) hands.delta('x');
    else if (word === 'env') say(JSON.stringify(process.env));
    else if (word === 'args') say(JSON.stringify({ args, params: turn.params ?? null }));
    else if (word === 'past') say(past.join('|'));
  }
  return turn.isOff ? null : said;
}
const newTurn = (params) => ({ isOff: false, off: () => {}, heard: () => {}, steers: [], params });
const end = (turn) => { turn.isOff = true; turn.off(); };

const CALLS = ['thread/start', 'thread/resume', 'turn/start', 'turn/steer', 'turn/interrupt', ...(way === 'old' ? [] : ['thread/fork'])];
const params = new Map();
const turns = new Map();
const codex = {
  start() { if (args[0] !== 'app-server') process.exit(2); },
  async hear({ id, method, params: given = {}, result }) {
    if (method === undefined) return waiting.get(id)?.(result);
    const answer = (value) => print({ id, result: value });
    const fail = (message) => print({ id, error: { code: -32600, message } });
    if (method === 'initialize') return answer({});
    if (id === undefined) return;
    if (method === 'synod/no-such-call') return fail('unknown variant, expected one of ' + CALLS.map((one) => '\x60' + one + '\x60').join(', '));
    if (method.startsWith('thread/')) {
      const past = given.threadId === undefined ? [] : load()[given.threadId];
      if (past === undefined) return fail('no rollout found for thread id ' + given.threadId);
      const thread = method === 'thread/resume' ? given.threadId : randomUUID();
      keep(thread, past);
      params.set(thread, given);
      return answer({ thread: { id: thread } });
    }
    const { threadId } = given;
    const turn = turns.get(threadId);
    if (method === 'turn/steer') { turn.steers.push(given.input[0].text); turn.heard(); return answer({}); }
    if (method === 'turn/interrupt') { answer({}); return end(turn); }
    if (method !== 'turn/start') return fail('no');
    const turnId = randomUUID();
    const fresh = newTurn(params.get(threadId));
    turns.set(threadId, fresh);
    answer({ turn: { id: turnId } });
    const at = { threadId, turnId };
    const past = load()[threadId];
    const prompt = given.input.map(({ text }) => text).join('\n');
    const done = await play(fresh, prompt, past, {
      say: (text) => print({ method: 'item/completed', params: { ...at, item: { type: 'agentMessage', id: 'm', text } } }),
      delta: (delta) => print({ method: 'item/agentMessage/delta', params: { ...at, itemId: 'm', delta } }),
      async ask(command) {
        const item = { type: 'commandExecution', id: 'c1', command };
        print({ method: 'item/started', params: { ...at, item: { ...item, status: 'inProgress' } } });
        const { decision } = await ask((q) => ({ id: q, method: 'item/commandExecution/requestApproval', params: { ...at, itemId: 'c1', command, cwd: '/', reason: 'so' } }));
        const isYes = decision === 'accept';
        print({ method: 'item/completed', params: { ...at, item: { ...item, status: isYes ? 'completed' : 'declined', exitCode: isYes ? 0 : null } } });
        return isYes;
      },
    });
    keep(threadId, [...past, prompt]);
    print({ method: 'thread/tokenUsage/updated', params: { ...at, tokenUsage: { last: { inputTokens: 7, outputTokens: 5 } } } });
    print({ method: 'turn/completed', params: { threadId, turn: { id: turnId, status: done === null ? 'interrupted' : 'completed', error: null } } });
  },
};

const flag = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const queue = [];
let busy = null;
const claude = {
  start() {
    const unknown = args.find((one) => one === '--synod-no-such-option' || (way === 'old' && one === '--fork-session'));
    if (unknown) { console.error("error: unknown option '" + unknown + "'"); process.exit(1); }
    const from = flag('--resume');
    if (from !== undefined && load()[from] === undefined) { console.error('No conversation found with session ID: ' + from); process.exit(1); }
    this.id = flag('--session-id') ?? from;
    this.past = from === undefined ? [] : load()[from];
  },
  async hear(message) {
    if (message.type === 'control_response') return waiting.get(message.response.request_id)?.(message.response.response);
    if (message.type === 'control_request') {
      print({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id } });
      return busy === null ? undefined : end(busy);
    }
    if (busy !== null) { busy.steers.push(message.message.content); print({ ...message, isReplay: true }); return busy.heard(); }
    print({ ...message, isReplay: true });
    const prompt = message.message.content;
    const session_id = this.id;
    print({ type: 'system', subtype: 'init', session_id, apiKeySource: 'none' });
    const turn = newTurn();
    busy = turn;
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 };
    const done = await play(turn, prompt, this.past, {
      say: (text) => print({ type: 'assistant', session_id, message: { id: 'm', content: [{ type: 'text', text }], usage } }),
      delta: (text) => print({ type: 'stream_event', session_id, event: { type: 'content_block_delta', delta: { type: 'text_delta', text } } }),
      async ask(command) {
        print({ type: 'assistant', session_id, message: { id: 'n', content: [{ type: 'tool_use', id: 'c1', name: 'Bash', input: { command } }], usage } });
        const { behavior } = await ask((id) => ({ type: 'control_request', request_id: id, request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command } } }));
        const isYes = behavior === 'allow';
        print({ type: 'user', session_id, message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: !isYes, content: 'so' }] } });
        return isYes;
      },
    });
    busy = null;
    this.past = [...this.past, prompt];
    keep(this.id, this.past);
    const result = { type: 'result', session_id, total_cost_usd: 0.25, usage };
    print(done === null ? { ...result, subtype: 'error_during_execution', is_error: true } : { ...result, subtype: 'success', is_error: false, result: done });
  },
};

const acp = {
  start() {},
  async hear({ id, method, params: given = {}, result }) {
    if (method === undefined) return waiting.get(id)?.(result);
    const answer = (value) => print({ jsonrpc: '2.0', id, result: value });
    const fail = (message) => print({ jsonrpc: '2.0', id, error: { code: -32603, message } });
    if (method === 'initialize') {
      const sessionCapabilities = way === 'plain' ? {} : { fork: {}, resume: {} };
      return answer({ protocolVersion: way === 'old' ? 2 : 1, agentCapabilities: { loadSession: true, sessionCapabilities } });
    }
    if (method === 'session/cancel') return end(turns.get(given.sessionId));
    if (method === 'session/set_mode') return answer({});
    const { sessionId } = given;
    if (method === 'session/new') { const fresh = randomUUID(); keep(fresh, []); return answer({ sessionId: fresh, ...(way === 'yolo' && { modes: { currentModeId: 'yolo' } }) }); }
    const past = load()[sessionId];
    if (past === undefined) return fail('Session not found: ' + sessionId);
    const update = (one) => print({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: one } });
    if (method === 'session/resume') return answer({});
    // As Gemini CLI does: the past is told after the answer.
    if (method === 'session/load') { answer({}); return void setTimeout(() => past.forEach((text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'OLD ' + text } })), 20); }
    if (method === 'session/fork') { const fresh = randomUUID(); keep(fresh, past); return answer({ sessionId: fresh }); }
    if (method !== 'session/prompt') return fail('no');
    const turn = newTurn();
    turns.set(sessionId, turn);
    const prompt = given.prompt.map(({ text }) => text).join('\n');
    const chunk = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    const done = await play(turn, prompt, past, {
      say: (text) => { update({ sessionUpdate: 'tool_call', toolCallId: 'cut', title: 'cut', kind: 'think', status: 'completed' }); chunk(text); },
      delta: chunk,
      async ask(command) {
        const toolCall = { toolCallId: 'c1', title: command, kind: 'execute', rawInput: { command } };
        update({ sessionUpdate: 'tool_call', ...toolCall, status: 'pending' });
        const options = ['allow_always', 'allow_once', 'reject_once'].map((one) => ({ optionId: one, name: one, kind: one }));
        const { outcome } = await ask((q) => ({ jsonrpc: '2.0', id: q, method: 'session/request_permission', params: { sessionId, options, toolCall } }));
        const isYes = outcome.optionId === 'allow_once';
        update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: isYes ? 'completed' : 'failed' });
        return isYes;
      },
    });
    keep(sessionId, [...past, prompt]);
    answer({ stopReason: done === null ? 'cancelled' : 'end_turn', usage: { inputTokens: 7, outputTokens: 5 } });
  },
};

const agent = { claude, codex, acp }[kind];
agent.start();
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => void agent.hear(JSON.parse(line)));
lines.on('close', () => process.exit(0));
`;
