/**
 * A small program that speaks as a vendor's does, for tests: Claude Code's stream-json, Codex's
 * app-server, or ACP. It plays one scene, and leaves what it was told in a file of its working directory, so
 * that a test sees the turn from the agent's side.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type StandInScene =
  | 'good'
  | 'failing'
  | 'hanging'
  | 'asks'
  | 'question'
  | 'exhausted'
  | 'overloaded'
  | 'spent'
  | 'other-bill'
  | 'gives-up'
  | 'silent'
  | 'old';

/** The command of a stand-in; the runner's own arguments follow. */
export type StandIn = (kind: 'claude' | 'codex' | 'acp', scene: StandInScene) => string[];

export function writeStandIn(folder: string): StandIn {
  const path = join(folder, 'stand-in.mjs');
  writeFileSync(path, SCRIPT);
  return (kind, scene) => [process.execPath, path, kind, scene];
}

/** What the agent saw of its turn. */
export interface Witness {
  /** How it was answered, call by call. */
  readonly told: readonly unknown[];
  /** Everything it was prompted with. */
  readonly heard: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

export function readWitness(cwd: string): Witness {
  return JSON.parse(readFileSync(join(cwd, 'witness.json'), 'utf8')) as Witness;
}

const SCRIPT = String.raw`
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [kind, scene, ...args] = process.argv.slice(2);
if (args.includes('--version')) { console.log('9.8.7 (stand-in)'); process.exit(0); }
if (args.join(' ') === 'auth status') { console.log('{\n "loggedIn": true,\n "authMethod": "claude.ai"\n}'); process.exit(0); }
if (args.join(' ') === 'login status') { console.error('Logged in using ChatGPT'); process.exit(0); }
const print = (value) => console.log(JSON.stringify(value));
const lines = createInterface({ input: process.stdin });
const told = [];
const waiting = new Map();
let count = 0;
let heard = '';
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => /KEY|TOKEN|BASE_URL|CLAUDE_CODE/.test(name)));
const ask = (message) => new Promise((resolve) => { const id = 'q' + ++count; waiting.set(id, resolve); print(message(id)); });
const tell = () => {
  writeFileSync('witness.json', JSON.stringify({ told, heard, env, args }));
  return scene === 'gives-up' ? 'stuck\n{"outcome":"gave_up","question":"which one?"}' : 'all done';
};
process.stderr.write('a line of stderr\n');

const claude = {
  start() {
    const unknown = args.find((one) => one === '--synod-no-such-option' || (scene === 'old' && one === '--max-budget-usd'));
    if (unknown) { console.error("error: unknown option '" + unknown + "'"); process.exit(1); }
  },
  async hear(message) {
    if (message.type === 'control_response') return waiting.get(message.response.request_id)?.(message.response.response);
    heard = message.message.content;
    const source = scene === 'other-bill' ? 'apiKeyHelper' : process.env.ANTHROPIC_API_KEY ? 'ANTHROPIC_API_KEY' : 'none';
    print({ type: 'system', subtype: 'init', session_id: 's-1', apiKeySource: source });
    if (scene === 'hanging' || scene === 'other-bill') return;
    if (scene === 'failing') { console.error('it broke'); process.exit(3); }
    if (scene === 'silent') process.exit(0);
    console.log('not JSON at all');
    print({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: 'working' }], usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 } } });
    const use = (tool_name, input) => ask((id) => ({ type: 'control_request', request_id: id, request: { subtype: 'can_use_tool', tool_name, input } }));
    if (scene === 'asks') for (const name of ['a', 'b', 'c']) told.push(await use('Bash', { command: 'touch ' + name }));
    if (scene === 'question') told.push(await use('AskUserQuestion', { questions: [{ question: 'Which way?' }] }));
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 };
    const end = { type: 'result', subtype: 'success', is_error: false, total_cost_usd: 0.25, usage, session_id: 's-1' };
    if (scene === 'exhausted') {
      print({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1900000000 } });
      print({ ...end, is_error: true, api_error_status: 429, result: 'API Error: 429' });
    } else if (scene === 'overloaded') print({ ...end, is_error: true, api_error_status: 529, result: 'API Error: 529' });
    else if (scene === 'spent') print({ ...end, subtype: 'error_max_budget_usd', is_error: true, errors: ['Reached maximum budget ($0.1)'] });
    else print({ ...end, result: tell() });
  },
};

const CALLS = ['thread/start', 'thread/resume', 'turn/start', 'turn/interrupt', 'account/read', 'config/read'];
const codex = {
  start() {},
  async hear({ id, method, params, result }) {
    if (method === undefined) return waiting.get(id)?.(result);
    if (id === undefined) return;
    const answer = (value) => print({ id, result: value });
    if (method === 'initialize') return answer({});
    if (method === 'synod/no-such-call') {
      const known = scene === 'old' ? CALLS : [...CALLS, 'turn/steer'];
      return print({ id, error: { code: -32600, message: 'unknown variant, expected one of ' + known.map((one) => '\x60' + one + '\x60').join(', ') } });
    }
    if (method === 'account/read') return answer({ account: scene === 'other-bill' ? { type: 'apiKey' } : { type: 'chatgpt' } });
    if (method === 'config/read') return answer({ config: { mcp_servers: { theirs: {}, 'odd.name': {} } } });
    if (method === 'thread/resume') return print({ id, error: { code: -32600, message: 'no rollout found' } });
    if (method === 'thread/start') { told.push(params); return answer({ thread: { id: 's-1' } }); }
    if (method === 'turn/steer') { told.push(params.input[0].text); return answer({}); }
    if (method === 'turn/interrupt') { answer({}); return print({ method: 'turn/completed', params: { turn: { status: 'interrupted', error: null } } }); }
    if (method !== 'turn/start') return print({ id, error: { code: -32601, message: 'no' } });
    heard = params.input[0].text;
    answer({ turn: { id: 'turn-1' } });
    if (scene === 'hanging') return;
    if (scene === 'failing') { console.error('it broke'); process.exit(3); }
    if (scene === 'silent') process.exit(0);
    console.log('not JSON at all');
    const at = { threadId: 's-1', turnId: 'turn-1' };
    const usage = { last: { inputTokens: 7, outputTokens: 5 } };
    print({ method: 'thread/tokenUsage/updated', params: { ...at, tokenUsage: usage } });
    if (scene === 'asks') for (const name of ['a', 'b', 'c']) {
      const asked = { ...at, command: 'touch ' + name, cwd: '/', reason: 'so' };
      told.push(await ask((q) => ({ id: q, method: 'item/commandExecution/requestApproval', params: asked })));
    }
    if (scene === 'question') told.push(await ask((q) => ({ id: q, method: 'item/tool/requestUserInput', params: { ...at, questions: [{ question: 'Which way?' }] } })));
    if (scene === 'spent') return print({ method: 'thread/tokenUsage/updated', params: { ...at, tokenUsage: usage } });
    const failed = (codexErrorInfo) => print({ method: 'turn/completed', params: { turn: { status: 'failed', error: { message: 'no', codexErrorInfo } } } });
    if (scene === 'exhausted') {
      print({ method: 'account/rateLimits/updated', params: { rateLimits: { primary: { usedPercent: 100, resetsAt: 1900000000 }, secondary: null } } });
      return failed('usageLimitExceeded');
    }
    if (scene === 'overloaded') return failed({ responseTooManyFailedAttempts: { httpStatusCode: 503 } });
    print({ method: 'item/completed', params: { ...at, item: { type: 'agentMessage', text: tell() } } });
    print({ method: 'turn/completed', params: { turn: { status: 'completed', error: null } } });
  },
};

const acp = {
  start() {},
  async hear({ id, method, params, result }) {
    if (method === undefined) return waiting.get(id)?.(result);
    const answer = (value) => print({ jsonrpc: '2.0', id, result: value });
    if (method === 'initialize') return answer({ protocolVersion: 1, agentCapabilities: { loadSession: true, mcpCapabilities: { http: scene !== 'old' } } });
    if (method === 'session/load') return print({ jsonrpc: '2.0', id, error: { code: -32603, message: 'gone' } });
    if (method === 'session/new') { told.push(params); return answer({ sessionId: 's-1' }); }
    if (method !== 'session/prompt') return print({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } });
    const isFirst = heard === '';
    heard += params.prompt.map(({ text }) => text).join('\n');
    if (scene === 'hanging') return;
    if (scene === 'failing') { console.error('it broke'); process.exit(3); }
    if (scene === 'silent') process.exit(0);
    console.log('not JSON at all');
    if (scene === 'asks' && isFirst) for (const name of ['a', 'b', 'c']) {
      const options = ['allow_always', 'allow_once', 'reject_once'].map((one) => ({ optionId: one, name: one, kind: one }));
      const asked = { sessionId: 's-1', options, toolCall: { title: 'touch ' + name, kind: 'execute' } };
      told.push(await ask((q) => ({ jsonrpc: '2.0', id: q, method: 'session/request_permission', params: asked })));
    }
    if (scene === 'question') told.push(await ask((q) => ({ jsonrpc: '2.0', id: q, method: 'fs/read_text_file', params: { path: '/etc/passwd' } })));
    const failed = (code, message) => print({ jsonrpc: '2.0', id, error: { code, message } });
    if (scene === 'exhausted') return failed(429, 'quota used up, retry in 60s');
    if (scene === 'overloaded') return failed(-32603, 'the model is overloaded (503)');
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: tell() } };
    print({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's-1', update } });
    answer({ stopReason: scene === 'spent' ? 'max_tokens' : 'end_turn', _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 5 } } } });
  },
};

const agent = { claude, codex, acp }[kind];
agent.start();
lines.on('line', (line) => void agent.hear(JSON.parse(line)));
lines.on('close', () => { if (scene !== 'hanging') process.exit(0); });
if (scene === 'hanging') { process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); }
`;
