/** Permission prompts of every vendor's harness at a gate, where the hook was installed to wait for people. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Vendor } from '../../src/wire/tool-names.ts';
import { until } from './deadline.ts';
import { DIALECTS, type HookScene, openHookScene } from './hook-scene.ts';
import type { Json } from './running-hub.ts';

const PERSON = { name: 'mia', passphrase: 'correct horse battery' };
let scene: HookScene;
let proof: string;
beforeAll(async () => {
  scene = await openHookScene({ hooks: { wake: { patienceMs: 0, lookMs: 20 } } });
  await scene.hub.admin('people_add', PERSON);
  ({ proof } = await scene.hub.admin('people_prove', PERSON));
});
afterAll(async () => await scene.close());

interface Prompted {
  readonly event: string;
  readonly more: Readonly<Record<string, unknown>>;
  readonly subject: string;
  readonly yes: object;
  no(words: string): object;
}

const decided = (decision: object) => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
});
const CLAUDE: Prompted = {
  event: 'PermissionRequest',
  more: {
    tool_name: 'Bash',
    tool_input: { command: 'rm -rf build\u001b', description: 'harmless' },
  },
  subject: 'rm -rf build\\u{1b}',
  yes: decided({ behavior: 'allow' }),
  no: (message) => decided({ behavior: 'deny', message }),
};
const PROMPTS: Readonly<Partial<Record<Vendor, Prompted>>> = {
  claude: CLAUDE,
  codex: CLAUDE,
  opencode: {
    event: 'permission.asked',
    more: { tool_name: 'bash', tool_use_id: 'per_1', tool_input: { command: 'rm -rf build' } },
    subject: 'rm -rf build',
    yes: { reply: 'once' },
    no: (message) => ({ reply: 'reject', message }),
  },
};

let said = 0;
interface Session {
  readonly agent: string;
  readonly pid: number;
  post(name: string, more?: object): Promise<Json>;
  /** The hook that waits for people. */
  prompt(more?: object, seconds?: number, signal?: AbortSignal): Promise<Json>;
  end(): void;
}

async function openSession(vendor: Vendor): Promise<Session> {
  const harness = scene.harness();
  const session = `${vendor}-${++said}`;
  const { hub } = scene;
  const headers = {
    ...{ authorization: `Bearer ${hub.owner}`, 'x-synod-parent': String(harness.pid) },
    'x-synod-agent': session,
  };
  const body = (name: string, more: object): string =>
    JSON.stringify({ hook_event_name: name, session_id: session, said: ++said, ...more });
  const ask = async (path: string, text: string, more: object, signal?: AbortSignal) => {
    const reply = await fetch(`${hub.url}/v1/hooks/${vendor}${path}`, {
      ...{ method: 'POST', headers: { ...headers, ...more }, body: text },
      ...(signal && { signal }),
    });
    return reply.status === 204 ? null : reply.json();
  };
  const { event, more } = PROMPTS[vendor] ?? CLAUDE;
  const made: Session = {
    agent: session,
    pid: harness.pid,
    post: (name, rest = {}) => ask('', body(name, rest), {}),
    prompt: (rest = {}, seconds = 60, signal) =>
      ask('/gate', body(event, { ...more, ...rest }), { 'x-synod-wait': String(seconds) }, signal),
    end: () => harness.kill('SIGKILL'),
  };
  await made.post(DIALECTS[vendor].prompt, { prompt: 'begin' });
  return made;
}

async function gateOf({ agent }: Session, state = 'pending'): Promise<Json> {
  const [gate] = await until(
    `a gate of ${agent} is ${state}`,
    async () =>
      (await scene.hub.admin('gates_list', { state })).gates.filter(
        (one: Json) => one.asker === agent,
      ),
    ({ length }) => length > 0,
  );
  return gate;
}
const decide = (gate: Json, decision: string, reason?: string): Promise<Json> =>
  scene.hub.admin('gates_decide', { gate_id: gate.gate_id, decision, reason, proof });
const itemsOf = async ({ agent }: Session, kind: string): Promise<Json[]> =>
  (await scene.hub.admin('docket_list', { kind })).items.filter(
    (one: Json) => one.agent_id === agent,
  );

describe.each(Object.keys(PROMPTS) as Vendor[])('%s', (vendor) => {
  const words = DIALECTS[vendor];
  const { subject, yes, no, more } = PROMPTS[vendor] as Prompted;

  test('[PG1] [PG3] a person’s yes or no is the answer to the prompt, in its own words, once', async () => {
    const session = await openSession(vendor);
    const first = session.prompt();
    const gate = await gateOf(session);
    expect(gate).toMatchObject({ action: more.tool_name, subject, tier: 1, thread: session.agent });
    expect(await itemsOf(session, 'blocked')).toEqual([]);
    // Its other hooks are answered meanwhile.
    await session.post(words.before, { tool_name: words.shell, tool_input: { command: 'ls' } });
    await decide(gate, 'approve');
    expect(await first).toEqual(yes);
    expect(await gateOf(session, 'consumed')).toMatchObject({ gate_id: gate.gate_id });
    const second = session.prompt({ tool_use_id: 'per_2' });
    await decide(await gateOf(session), 'deny', 'not\nbefore noon');
    const why = 'Denied by "mia", a person who decided. The reason: "not before noon"';
    expect(await second).toEqual(no(`${why} The same by another way is denied too.`));
    // It heard both where it waited: nothing is left to be read.
    const { messages } = await scene.hub.ask(session.agent, 'recv');
    expect(messages).toEqual([]);
  });

  test('[PG5] it is taken back when the session goes on, ends, is gone, or its hook is', async () => {
    const over = new AbortController();
    const ways: Readonly<Record<string, (session: Session) => unknown>> = {
      'it was answered at the terminal': ({ post }) => post(words.after, more),
      'the session went on': ({ post }) => post(words.prompt, { prompt: 'no, rather this' }),
      'the session ended': ({ post }) => post(words.end),
      'the session is gone': ({ end }) => end(),
      'the harness waits for it no more': () => over.abort(),
    };
    for (const [reason, happens] of Object.entries(ways)) {
      const session = await openSession(vendor);
      const answer = session.prompt({}, 60, over.signal).catch(() => null);
      await gateOf(session);
      await happens(session);
      expect(await gateOf(session, 'withdrawn')).toMatchObject({ reason });
      expect(await answer).toBe(null);
    }
  });
});

test('[PG3] without an answer in time it expires: silence, and the session is blocked', async () => {
  const expires = async (vendor: Vendor): Promise<void> => {
    const session = await openSession(vendor);
    expect(await session.prompt({}, 1)).toBe(null);
    expect(await gateOf(session, 'expired')).toMatchObject({ reason: 'nobody decided it in time' });
    await until(
      'it is on the docket as blocked',
      () => itemsOf(session, 'blocked'),
      ({ length }) => length === 1,
    );
    const isIts = ({ agent, rule }: Json): boolean => agent === session.agent && rule === 'gate';
    const [line] = await until(
      'it is on record',
      async () => (await scene.decisions()).filter(isIts),
      ({ length }) => length === 1,
    );
    expect(line).toMatchObject({ action: 'noop', reason: expect.stringContaining('expired') });
  };
  await Promise.all((Object.keys(PROMPTS) as Vendor[]).map(expires));
});

test('[PG4] a vendor that takes no answer, a question, or a command nobody sees whole is no gate', async () => {
  const gemini = await openSession('gemini');
  const notice = { notification_type: 'ToolPermission', message: 'rm', ...CLAUDE.more };
  expect(await gemini.prompt({ hook_event_name: 'Notification', ...notice })).toBe(null);
  const claude = await openSession('claude');
  const asks = { tool_name: 'AskUserQuestion', tool_input: { questions: [{ question: 'Why?' }] } };
  expect(await claude.prompt(asks)).toBe(null);
  const long = await openSession('claude');
  const hidden = { tool_input: { command: `echo ${'x'.repeat(5_000)}; rm -rf /` } };
  expect(await long.prompt(hidden)).toBe(null);
  const { gates } = await scene.hub.admin('gates_list', { state: 'all', limit: 500 });
  const asked = gates.filter((one: Json) =>
    [gemini, claude, long].some(({ agent }) => agent === one.asker),
  );
  expect(asked).toEqual([]);
  for (const session of [gemini, claude, long]) {
    await until(
      'it is blocked',
      () => itemsOf(session, 'blocked'),
      ({ length }) => length === 1,
    );
  }
  // What is no command is shown as far as it goes, and says how much is missing.
  const wide = await openSession('claude');
  void wide.prompt({
    tool_name: 'Write',
    tool_input: { file_path: 'a', content: 'x'.repeat(9_000) },
  });
  expect((await gateOf(wide)).subject).toMatch(
    /^a with \{"content":"x+… \(\d+ more characters are not shown\)$/,
  );
  await wide.post('SessionEnd');
});

test('[PG1] a hook that was not installed to wait asks nobody', async () => {
  const session = await openSession('claude');
  expect(await session.post('PermissionRequest', CLAUDE.more)).toBe(null);
  const { gates } = await scene.hub.admin('gates_list', { state: 'all', limit: 500 });
  expect(gates.filter((one: Json) => one.asker === session.agent)).toEqual([]);
});

test('[PG2] a hook that is installed twice is one prompt, one gate and one answer', async () => {
  const session = await openSession('claude');
  const twice = { tool_use_id: 'call-1' };
  const both = [session.prompt(twice), session.prompt(twice)];
  const gate = await gateOf(session);
  await decide(gate, 'approve');
  expect(await Promise.all(both)).toEqual([CLAUDE.yes, CLAUDE.yes]);
});

test('[PG6] prompts that wait are bounded for one agent, and its other hooks go on', async () => {
  const session = await openSession('claude');
  const asked = Array.from({ length: 17 }, (_, i) =>
    session.prompt({ tool_input: { command: `touch ${i}` } }),
  );
  expect(await Promise.race(asked)).toBe(null);
  expect(await session.post('PreToolUse', DIALECTS.claude.edit('/tmp/x'))).toBe(null);
  await session.post('SessionEnd');
  expect(new Set(await Promise.all(asked))).toEqual(new Set([null]));
});
