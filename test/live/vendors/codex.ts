/** Codex: `~/.codex/config.toml` for the model and MCP servers, `~/.codex/hooks.json` for hooks. */
import { claudeAnswers, DUMMY_KEY, hookTable, type Vendor } from '../vendor.ts';

/** More is cut down at the end of a session, with a complaint. */
const HOOK_TIMEOUT_S = 3;

export const codex: Vendor = {
  name: 'codex',
  events: {
    start: 'SessionStart',
    prompt: 'UserPromptSubmit',
    before: 'PreToolUse',
    after: 'PostToolUse',
    stop: 'Stop',
    end: 'SessionEnd',
  },
  configure(scene, { model, bridge, probe }) {
    // JSON strings and lists of strings are TOML too.
    const lines = [
      'model = "scripted"',
      'model_provider = "loopback"',
      '[model_providers.loopback]',
      'name = "loopback"',
      `base_url = ${JSON.stringify(`${model}/v1`)}`,
      'env_key = "LOOPBACK_KEY"',
      'wire_api = "responses"',
      `[projects.${JSON.stringify(scene.project)}]`,
      'trust_level = "trusted"',
    ];
    if (bridge !== undefined) {
      lines.push(
        '[mcp_servers.synod]',
        `command = ${JSON.stringify(bridge.command)}`,
        `args = ${JSON.stringify(bridge.args)}`,
        'startup_timeout_sec = 60',
      );
    }
    scene.write('home/.codex/config.toml', `${lines.join('\n')}\n`);
    if (probe !== undefined) {
      scene.write('home/.codex/hooks.json', {
        hooks: hookTable(codex.events, probe.hook, HOOK_TIMEOUT_S),
      });
    }
  },
  env: () => ({ LOOPBACK_KEY: DUMMY_KEY }),
  headless: (prompt) => [
    'exec',
    '--json',
    '--sandbox',
    'workspace-write',
    // The hooks are ours, and nobody is there to review them.
    '--dangerously-bypass-hook-trust',
    prompt,
  ],
  toolName: (tool) => tool,
  beforeTool: () => [],
  lookAt: (path) => ({ call: 'exec_command', args: { cmd: `cat '${path}'` } }),
  writeFile: (path, text) => ({
    call: 'exec_command',
    args: { cmd: `printf %s '${text}' > '${path}'` },
  }),
  answers: claudeAnswers,
};
