/**
 * opencode: `~/.config/opencode/opencode.json`, and in place of hooks a plugin that runs inside its
 * process. The plugin here writes the same log as the probe's hook and obeys the same answers, in
 * the words `inject`, `deny` and `block`, which are ours: opencode has none.
 */
import { DUMMY_KEY, type Setup, type Vendor } from '../vendor.ts';
import { pluginSource } from './opencode-plugin.ts';

export const opencode: Vendor = {
  name: 'opencode',
  events: {
    start: 'session.created',
    prompt: 'chat.message',
    before: 'tool.execute.before',
    after: 'tool.execute.after',
    stop: 'session.idle',
    end: 'server.instance.disposed',
  },
  configure(scene, { model, bridge, probe }) {
    scene.write('home/.config/opencode/opencode.json', {
      model: 'loopback/scripted',
      small_model: 'loopback/scripted',
      autoupdate: false,
      share: 'disabled',
      provider: {
        loopback: {
          npm: '@ai-sdk/openai-compatible',
          name: 'loopback',
          options: { baseURL: `${model}/v1`, apiKey: DUMMY_KEY },
          models: { scripted: { name: 'scripted' } },
        },
      },
      ...(bridge !== undefined && {
        mcp: {
          synod: { type: 'local', command: [bridge.command, ...bridge.args], enabled: true },
        },
      }),
    });
    if (probe !== undefined) {
      scene.write('home/.config/opencode/plugins/synod-probe.js', pluginSource(probe));
    }
  },
  env: (_setup: Setup) => ({
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
  }),
  headless: (prompt) => ['run', '--format', 'json', prompt],
  toolName: (tool) => `synod_${tool}`,
  beforeTool: () => [],
  lookAt: (path) => ({ call: 'read', args: { filePath: path } }),
  writeFile: (path, content) => ({ call: 'write', args: { filePath: path, content } }),
  answers: {
    inject: (_event, text) => ({ inject: text }),
    deny: (reason) => ({ deny: reason }),
    block: (reason) => ({ block: reason }),
  },
};
