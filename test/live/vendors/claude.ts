/** Claude Code: `~/.claude.json` for MCP servers, `~/.claude/settings.json` for hooks. */
import { claudeAnswers, DUMMY_KEY, hookTable, type Vendor } from '../vendor.ts';

const HOOK_TIMEOUT_S = 10;
/** Claude Code asks about a key it does not know by its last characters. */
const KEY_TAIL = 20;

export const claude: Vendor = {
  name: 'claude',
  events: {
    start: 'SessionStart',
    prompt: 'UserPromptSubmit',
    before: 'PreToolUse',
    after: 'PostToolUse',
    stop: 'Stop',
    end: 'SessionEnd',
  },
  configure(scene, { bridge, probe }) {
    scene.write('home/.claude.json', {
      ...(bridge !== undefined && { mcpServers: { synod: { type: 'stdio', ...bridge } } }),
      // Answers to the questions of a first interactive start.
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [DUMMY_KEY.slice(-KEY_TAIL)], rejected: [] },
      projects: { [scene.project]: { hasTrustDialogAccepted: true } },
    });
    scene.write('home/.claude/settings.json', {
      ...(bridge !== undefined && { permissions: { allow: ['mcp__synod__*'] } }),
      ...(probe !== undefined && {
        hooks: hookTable(claude.events, probe.hook, HOOK_TIMEOUT_S),
      }),
    });
  },
  env: ({ model }) => ({
    ANTHROPIC_API_KEY: DUMMY_KEY,
    ANTHROPIC_BASE_URL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  headless: (prompt) => [
    '-p',
    prompt,
    '--output-format',
    'json',
    '--permission-mode',
    'acceptEdits',
  ],
  toolName: (tool) => `mcp__synod__${tool}`,
  // The tools of MCP servers are not loaded until the model looks for them.
  beforeTool: (tool) => [{ call: 'ToolSearch', args: { query: `select:mcp__synod__${tool}` } }],
  lookAt: (path) => ({ call: 'Read', args: { file_path: path } }),
  writeFile: (path, content) => ({ call: 'Write', args: { file_path: path, content } }),
  answers: claudeAnswers,
};
