/**
 * Hooks that are calls of a tool: the vendor asks the session's own bridge, so that nobody has to
 * guess whose hook it was. The server here is a small one of the test's: ours has no such tool yet.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect } from 'vitest';
import { objectOf } from './dialects/json.ts';
import { textShown } from './script.ts';
import { liveTest, openStage, type Stage } from './stage.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';

const SERVER = fileURLToPath(new URL('./hook-tool-server.ts', import.meta.url));
const FILES = { claude: 'home/.claude/settings.json', codex: 'home/.codex/hooks.json' };

let stage: Stage | undefined;
afterEach(async () => await stage?.close());

describe.each([claude, codex])('$name', (vendor) => {
  const needs = [vendor.name];

  liveTest(
    '[LV23] a hook may be a tool of the bridge that no model is shown',
    { needs },
    async () => {
      stage = await openStage(vendor);
      const { scene, probe, setup } = stage;
      const bridge = { command: process.execPath, args: [SERVER, probe.log, 'claimed by bob'] };
      vendor.configure(scene, { ...setup, bridge });
      const file = FILES[vendor.name as keyof typeof FILES];
      const hook = {
        type: 'mcp_tool',
        server: 'synod',
        tool: 'hook',
        input: { event: '$' + '{hook_event_name}', tool: '$' + '{tool_name}' },
      };
      const settings = JSON.parse(scene.read(file));
      scene.write(file, { ...settings, hooks: { PreToolUse: [{ hooks: [hook] }] } });

      const path = join(scene.project, 'a.txt');
      await stage.ask('write it', [vendor.writeFile(path, 'hello'), { say: 'so be it' }]);
      expect(scene.has('project/a.txt')).toBe(false);
      const turn = stage.model.turns().at(-1);
      expect(textShown(turn as NonNullable<typeof turn>, 'tool')).toContain('claimed by bob');
      expect(stage.model.turns()[0]?.tools.map(({ name }) => name)).not.toContain('hook');
      const [called] = probe.records('request', 'tools/call');
      const { params } = objectOf(called?.input);
      expect(objectOf(params).arguments).toMatchObject({ event: 'PreToolUse' });
    },
  );
});
