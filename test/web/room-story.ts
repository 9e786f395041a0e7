/** A morning of work at a hub, for the rooms of the page to show: a plan, claims, who waits, and a bus of turns. */
import type { RunningHub } from '../e2e/running-hub.ts';

type Row = readonly [id: string, title: string, needs: readonly string[], project: string];

const PLAN: readonly Row[] = [
  ['spec', 'Write down what the parser accepts', [], 'parser'],
  ['lexer', 'Cut the text into tokens', ['spec'], 'parser'],
  ['grammar', 'Grammar without left recursion', ['spec'], 'parser'],
  ['ast', 'Tree with positions', ['grammar'], 'parser'],
  ['errors', 'Errors that say where and what to do', ['lexer', 'ast'], 'parser'],
  ['format', 'Formatter that changes nothing twice', ['ast'], 'parser'],
  ['fuzz', 'Fuzz it for an hour', ['errors', 'format'], 'parser'],
  ['bench', 'Bench against the old one', ['format'], 'parser'],
  ['docs', 'Guide: from the first file to the formatter', ['errors'], 'docs'],
  ['release', 'Release 2.0', ['fuzz', 'bench', 'docs'], 'docs'],
  ['logo', 'A logo that is not a hexagon', [], 'docs'],
  ['ci', 'CI on three systems', [], 'docs'],
];
const WORKTREE = '/srv/parser';

export async function tellWork({ ask }: RunningHub): Promise<void> {
  for (const [task_id, title, depends_on, project] of PLAN) {
    await ask('claude', 'plan_declare', { task_id, title, depends_on, project });
  }
  const take = (agent: string, task_id: string, paths: string[], branch?: string) =>
    ask(agent, 'claims_take', { task_id, worktree: WORKTREE, paths, branch });
  await take('claude', 'spec', ['docs/spec.md']);
  await ask('claude', 'claims_update', { task_id: 'spec', status: 'done' });
  await ask('claude', 'claims_release', { task_id: 'spec' });
  await take('claude', 'grammar', ['src/grammar/**', 'src/tree.ts'], 'topic/grammar');
  await ask('claude', 'claims_update', { task_id: 'grammar', status: 'working' });
  await take('codex', 'lexer', ['src/lexer/scan.ts', 'src/lexer/tables.ts'], 'topic/lexer');
  await ask('codex', 'plan_progress', { task_id: 'lexer', text: 'Names pass; numbers next.' });
  await take('gemini', 'ci', ['.github/workflows']);
  await ask('gemini', 'claims_wait', { worktree: WORKTREE, paths: ['src/tree.ts'] });
  await ask('claude', 'presence_report', { state: 'busy', note: 'src/grammar/rules.ts' });
  await ask('codex', 'presence_report', { state: 'busy', note: 'tests of the lexer' });
  await ask('gemini', 'presence_report', { state: 'idle' });
  const question = 'keep the old token shape?';
  await ask('opencode', 'presence_report', { state: 'blocked', note: question });
}

/** Two agents whose turns the hub sees to: one that talks until it is ended, one that has been of some use. */
export async function tellTurns({ ask, admin }: RunningHub): Promise<void> {
  for (const agent of ['nightly', 'reviewer']) await ask(agent, 'subscribe', { pattern: agent });
  const script = 'echo "reading 12 files"; echo "412 passed"; echo "two were slow" >&2; sleep 60';
  await admin('agents_manage', {
    ...{ agent_id: 'nightly', runner: { kind: 'command', command: ['/bin/sh', '-c', script] } },
    limits: { turns_per_day: 40 },
  });
  await admin('agents_manage', {
    ...{ agent_id: 'reviewer', runner: { kind: 'outside' }, limits: { day_usd: 2 } },
  });
  const turn = async (text: string, end: object): Promise<void> => {
    await ask('codex', 'send', { channel: 'reviewer', body: { text } });
    const { turn } = await admin('turns_take', { agents: ['reviewer'], wait_ms: 60_000 });
    await admin('turns_finish', { turn_id: turn.turn_id, epoch: turn.epoch, ...end });
  };
  await turn('please look at topic/lexer', {
    ...{ outcome: 'done', consumed: 'all', note: 'two remarks, no objection' },
    cost: { usd: 0.42, tokens_in: 31_000, tokens_out: 2_400 },
  });
  await turn('and at topic/grammar', { outcome: 'gave_up', note: 'the branch does not build' });
}
