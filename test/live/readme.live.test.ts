/**
 * "Connect your agents" of the README, as it stands there: the hub is started as the README starts it,
 * the command that installs is run by a shell, and the two prompts are given to the two agents, first
 * headless and then, word for word, in two terminals. In the end nothing is left.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect } from 'vitest';
import { readSteps, startHub } from '../tidy/shell-blocks.ts';
import {
  createAgent,
  createGate,
  hasRested,
  type InstalledAgent,
  readDecisions,
  sentId,
  uses,
} from './installed.ts';
import { seen } from './patience.ts';
import { openScene, type Ran, type Scene } from './scene.ts';
import { type Thought, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import { hasTerminal, openTerminal } from './terminal.ts';
import { traces } from './traces.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { openCodexTerminal } from './vendors/codex-open.ts';

const CLONE = fileURLToPath(new URL('../../', import.meta.url));
const README = readFileSync(join(CLONE, 'README.md'), 'utf8');
const ROOM = 'team/plan';
const QUESTION = 'Who takes the parser?';
const ANSWER = 'I take the parser; the lexer is yours.';
const needs = ['claude', 'codex'] as const;

/** The three commands, and what the README says before them. */
const [, block = ''] =
  /^## Connect your agents\n[\s\S]*?^```bash\n([\s\S]*?)^```$/m.exec(README) ?? [];
const [install = '', askCodex = '', askClaude = ''] = block.trim().split('\n');
const said = readSteps(README).map(({ command }) => command);
const alias = said.find((command) => command.startsWith('alias ')) ?? '';

function promptOf(command: string): string {
  return /"(.*)"/.exec(command)?.[1] ?? '';
}

let scene: Scene;
let her: InstalledAgent;
let his: InstalledAgent;
let before: Readonly<Record<string, string>>;

/** What a person had before us, with comments and entries of others. */
const FILES = [
  'home/.claude/settings.json',
  'home/.codex/config.toml',
  'home/.codex/hooks.json',
  'home/.codex/AGENTS.md',
];

const MY_HOOKS = `{ "hooks": {
  "Stop": [ {"hooks": [{ "type":"command", "command": "true"}]} ]}
}`;

/** A line of the README, typed in the project after the alias was made in the clone. */
function type(line: string): Promise<Ran> {
  const script = `cd '${CLONE}'\n${alias}\ncd '${scene.project}'\n${line}`;
  return scene.run('sh', ['-c', script]);
}

/** Of the vendors' own files only Claude Code's is rewritten by Claude Code itself. */
function readAll(): Readonly<Record<string, string>> {
  return Object.fromEntries(FILES.map((path) => [path, scene.has(path) ? scene.read(path) : '']));
}

beforeEach(async () => {
  if (process.env.SYNOD_LIVE !== '1') return;
  scene = openScene({ isPersons: true });
  [her, his] = await Promise.all([createAgent(scene, claude), createAgent(scene, codex)]);
  scene.write('home/.codex/AGENTS.md', '# Mine\n\nTabs, never spaces.');
  scene.write('home/.codex/hooks.json', MY_HOOKS);
  const config = scene.read('home/.codex/config.toml');
  scene.write('home/.codex/config.toml', `# mine\n\n${config}\n\n# the end`);
  const git = (...args: string[]): Promise<Ran> =>
    scene.run('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', ...args]);
  await git('add', '.');
  expect(await git('commit', '-qm', 'start')).toMatchObject({ code: 0 });
  before = readAll();
  const env = {
    ...scene.env(),
    PATH: `${scene.env().PATH}:${process.env.PATH}`,
    SYNOD_DIR: scene.hub,
    // Somebody may have a hub of their own here.
    SOX_HTTP_PORT: '0',
  };
  expect(said).toContain('npm start');
  const hub = await startHub('npm start', env);
  scene.atEnd(() => hub.stop());
  const installed = await type(install);
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
});
afterEach(async () => await scene?.close());

async function expectGone(): Promise<void> {
  const gone = await type('synod uninstall all');
  expect(gone, gone.stderr).toMatchObject({ code: 0 });
  const status = await scene.run('git', ['status', '--porcelain', '--ignored']);
  expect(status.stdout).toBe('');
  expect(await traces(scene)).toEqual([]);
}

async function expectDone(): Promise<void> {
  const shown = (agent: InstalledAgent): string =>
    agent.model
      .turns()
      .map((turn) => textShown(turn))
      .join('\n');
  expect(shown(his)).toContain(promptOf(askCodex));
  expect(shown(his)).toContain(`| ${QUESTION}`);
  expect(shown(her)).toContain(promptOf(askClaude));
  // Quoted by a hook or a wake, or taken by a recv after a blocked stop: whichever came first.
  expect(shown(her)).toContain(ANSWER);
  const claims = await scene.synod('claims', '--json', '--as', 'claude');
  expect(claims.stdout).toContain('"lexer"');
}

liveTest(
  '[LV30] the three commands of the README, headless, and then no trace',
  { needs },
  async () => {
    expect(install).toMatch(/^synod install /);
    const joined = createGate();
    const asked = createGate<string>();
    const answered = createGate();
    const notes = join(scene.project, 'notes.txt');
    his.model.play([
      uses(his, 'channels__subscribe', { pattern: ROOM }),
      uses(his, 'channels__send', { channel: ROOM, body: { text: 'I work on the lexer.' } }),
      async () => {
        joined.open();
        await asked.passed;
        return codex.lookAt(notes);
      },
      uses(his, 'channels__recv', {}),
      async () => {
        const body = { text: ANSWER };
        const reply_to = await asked.passed;
        return uses(his, 'channels__send', { channel: ROOM, body, reply_to });
      },
      () => {
        answered.open();
        return { say: 'answered' };
      },
    ]);
    her.model.play([
      uses(her, 'channels__subscribe', { pattern: ROOM }),
      uses(her, 'channels__send', { channel: ROOM, body: { text: QUESTION } }),
      async (request) => {
        asked.open(sentId(request));
        await answered.passed;
        return claude.lookAt(notes);
      },
      uses(her, 'channels__recv', {}),
      uses(her, 'claims__take', { task_id: 'lexer', paths: ['src/lexer.ts'] }),
      { say: 'I take the lexer' },
    ]);
    const headless = askCodex.replace(/^codex /, 'codex exec --dangerously-bypass-hook-trust ');
    const options = (agent: InstalledAgent) => ({ env: agent.vendor.env(agent.setup) });
    const codexs = scene.start('sh', ['-c', headless], options(his));
    await joined.passed;
    const claudes = scene.start(
      'sh',
      ['-c', askClaude.replace(/^claude /, 'claude -p ')],
      options(her),
    );
    for (const ran of await Promise.all([codexs.exited(), claudes.exited()])) {
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
    }
    await expectDone();
    await expectGone();
    expect(readAll()).toEqual(before);
  },
);

liveTest(
  '[LV31] the same as a person types them, in two terminals that wake each other',
  { needs, skip: !hasTerminal },
  async () => {
    const question = createGate<string>();
    const answers: Thought = async () => {
      const reply_to = await question.passed;
      return uses(his, 'channels__send', { channel: ROOM, body: { text: ANSWER }, reply_to });
    };
    his.model.play([
      uses(his, 'channels__subscribe', { pattern: ROOM }),
      uses(his, 'channels__send', { channel: ROOM, body: { text: 'I work on the lexer.' } }),
      { say: 'waiting' },
      uses(his, 'channels__recv', {}),
      answers,
      { say: 'answered' },
    ]);
    her.model.play([
      uses(her, 'channels__subscribe', { pattern: ROOM }),
      uses(her, 'channels__send', { channel: ROOM, body: { text: QUESTION } }),
      (request) => {
        question.open(sentId(request));
        return { say: 'asked' };
      },
      uses(her, 'channels__recv', {}),
      uses(her, 'claims__take', { task_id: 'lexer', paths: ['src/lexer.ts'] }),
      { say: 'I take the lexer' },
    ]);
    await openCodexTerminal(his, promptOf(askCodex));
    await seen('Codex is idle', () => hasRested(readDecisions(scene), 'codex', 1));
    openTerminal(scene, 'claude', [promptOf(askClaude)], claude.env(her.setup));
    await her.model.waitForTurn((turn) => textShown(turn, 'tool').includes('lease_expires_at'));
    await expectDone();
    const wakes = readDecisions(scene).filter(({ action }) => action === 'confirmed');
    expect(wakes.map(({ agent }) => agent)).toContain('codex');
    await expectGone();
  },
);
