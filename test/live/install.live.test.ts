/** The vendors' own command lines over the configuration that `synod install` writes, in both scopes. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { installVendor } from '../../src/harness/install/install.ts';
import { uninstallVendor } from '../../src/harness/install/uninstall.ts';
import { DEFAULT_OPTIONS } from '../../src/harness/install/vendors/vendor.ts';
import { createSite } from '../../src/harness/install/world.ts';
import { BIN } from '../e2e/cli-run.ts';
import { openModelServer } from './model-server.ts';
import { openScene, type Scene } from './scene.ts';
import { textShown } from './script.ts';
import { CHANNEL, liveTest, PEER, vendors } from './stage.ts';
import { traces } from './traces.ts';
import { runVendor } from './vendor.ts';

let scene: Scene | undefined;
afterEach(async () => await scene?.close());

/** In the place of the script, one that writes down what it is handed, each call in its own file. */
function recordHooks(at: Scene): { names: () => string[]; restore: () => void } {
  const hook = join(at.home, '.synod/bin/hook');
  const kept = readFileSync(hook);
  const folder = join(at.root, 'hooked');
  mkdirSync(folder);
  // To wait for mail is no event, and hands nothing over.
  const skip = '[ "$2" = wake ] && exit 0';
  writeFileSync(hook, `#!/bin/sh\n${skip}\ncat > '${folder}/'$(date +%s%N)-$$\n`);
  chmodSync(hook, 0o755);
  return {
    names: () =>
      readdirSync(folder)
        .sort()
        .map((name) => JSON.parse(at.read(`hooked/${name}`)).hook_event_name),
    restore: () => writeFileSync(hook, kept),
  };
}

describe.each(vendors)('$name', (vendor) => {
  describe.each(['user', 'project'] as const)('%s', (scope) => {
    liveTest('[IN15] has the tools, the hooks and the words; then nothing is left', async () => {
      scene = openScene();
      const model = await openModelServer();
      scene.atEnd(() => model.close());
      await scene.synod('up', '--port', '0');
      await scene.synod('subscribe', CHANNEL, '--as', PEER);
      const setup = { model: model.url };
      vendor.configure(scene, setup);
      const untouched = await traces(scene);
      const site = createSite(scope, scene.project, { HOME: scene.home });
      const launch = { node: process.execPath, program: BIN };
      const options = DEFAULT_OPTIONS;
      const report = installVendor({ vendor: vendor.name, site, options, launch });
      expect(report).toMatchObject({ problem: null, findings: [] });
      const hooks = recordHooks(scene);
      model.play([
        ...vendor.beforeTool('channels__send'),
        {
          call: vendor.toolName('channels__send'),
          args: { channel: CHANNEL, body: { text: 'good morning' } },
        },
        { say: 'sent' },
      ]);
      // What a person answers to Gemini once.
      const trusting = {
        ...vendor,
        env: (of: typeof setup) => ({ ...vendor.env(of), GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
      };
      const ran = await runVendor(trusting, scene, setup, vendor.headless('greet the room'));
      const received = await scene.synod('recv', '--as', PEER, '--json');
      expect(received.stdout, `${ran.stdout}\n${ran.stderr}`).toContain('good morning');
      const { start, prompt, before, after, stop } = vendor.events;
      expect(hooks.names()).toEqual(expect.arrayContaining([start, prompt, before, after, stop]));
      const shown = model.turns().map((turn) => textShown(turn));
      expect(shown.join('\n')).toContain('other agents work here too');
      expect(shown.join('\n')).toContain('inter-agent-channels');
      hooks.restore();

      const gone = uninstallVendor({ vendor: vendor.name, site });
      expect(gone).toMatchObject({ problem: null, findings: [] });
      expect(await traces(scene)).toEqual(untouched);
      const status = await scene.run('git', ['-C', scene.project, 'status', '--porcelain']);
      expect(status.stdout).toBe('');
    });
  });
});
