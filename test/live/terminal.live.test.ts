/**
 * The command lines as a person leaves them: in a terminal, idle, with nobody at the keys. Where
 * there is no tmux to give the terminal, these are skipped.
 */
import { afterEach, expect } from 'vitest';
import { cliPath } from './clis.ts';
import { seen } from './patience.ts';
import { textShown } from './script.ts';
import { AGENT, liveTest, openStage, type Stage } from './stage.ts';
import { hasTerminal, openTerminal } from './terminal.ts';
import { claude } from './vendors/claude.ts';
import { socketOf, wake } from './vendors/claude-open.ts';
import { codex } from './vendors/codex.ts';
import { openAppServer, readHookStates, stopDaemon, trustAsPerson } from './vendors/codex-open.ts';

let stage: Stage | undefined;
afterEach(async () => await stage?.close());

const skip = !hasTerminal;
const NEWS = 'message 4711 waits in room';

liveTest(
  '[LV20] the socket wakes Claude Code in a terminal before its first turn',
  { skip, needs: ['claude'] },
  async () => {
    stage = await openStage(claude);
    openTerminal(stage.scene, 'claude', [], claude.env(stage.setup));
    await wake(await socketOf(stage), NEWS);
    await stage.model.waitForTurn((turn) => textShown(turn, 'user').includes(NEWS));
  },
);

liveTest(
  '[LV21] a hook in the background wakes Claude Code when it ends with 2',
  { skip, needs: ['claude'] },
  async () => {
    stage = await openStage(claude);
    const { scene, model } = stage;
    const gate = `${scene.root}/gate`;
    const settings = JSON.parse(scene.read('home/.claude/settings.json'));
    const command = `until [ -e '${gate}' ]; do sleep 0.05; done; rm '${gate}'; echo '${NEWS}' >&2; exit 2`;
    const hook = { type: 'command', command, async: true, asyncRewake: true, timeout: 60 };
    settings.hooks.Stop.push({ hooks: [hook] });
    scene.write('home/.claude/settings.json', settings);
    openTerminal(scene, 'claude', [], claude.env(stage.setup));
    await wake(await socketOf(stage), 'begin');
    await stage.probe.waitFor('hook', 'Stop');
    expect(model.turns()).toHaveLength(1);
    scene.write('gate', '');
    const turn = await model.waitForTurn((each) => textShown(each, 'user').includes(NEWS));
    expect(textShown(turn, 'user')).toContain('NOT USER INPUT');
  },
);

liveTest(
  '[LV22] Codex terminals share one parent, and "codex queue" wakes each',
  { skip, needs: ['codex'] },
  async () => {
    stage = await openStage(codex, { hasHub: true });
    const { scene, setup, probe, model } = stage;
    const here = stage;
    scene.atEnd(() => stopDaemon(here));
    trustAsPerson(scene, await readHookStates(await openAppServer(stage), scene));
    const env = codex.env(setup);
    for (const text of ['first', 'second']) {
      openTerminal(scene, 'codex', [text], env);
      await model.waitForTurn((turn) => textShown(turn, 'user').includes(text));
    }
    const sessions = await seen('both sessions ended a turn', () => {
      const ids = new Set(
        probe.records('hook', 'Stop').map(({ input }) => String(input.session_id)),
      );
      return ids.size === 2 && [...ids];
    });
    // Two bridges, one for each thread: the parent tells nothing, the thread in a call does.
    const parents = probe.records('bridge').map(({ parent }) => parent);
    expect(parents.length, AGENT).toBeGreaterThanOrEqual(2);
    expect(new Set(parents.slice(-2)).size).toBe(1);
    for (const [at, thread] of sessions.entries()) {
      const words = ['queue', '--thread', thread, '--message', `${NEWS} ${at}`];
      await scene.run(cliPath('codex'), words, { env });
      await model.waitForTurn((turn) => textShown(turn, 'user').includes(`${NEWS} ${at}`));
    }
    const prompts = probe.records('hook', 'UserPromptSubmit').map(({ input }) => input.prompt);
    expect(prompts).toEqual(['first', 'second', `${NEWS} 0`, `${NEWS} 1`]);
  },
);
