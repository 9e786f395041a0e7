/** Gemini CLI: everything in `~/.gemini/settings.json`; its hooks count in milliseconds. */
import { DUMMY_KEY, hookTable, type Vendor } from '../vendor.ts';

const HOOK_TIMEOUT_MS = 10_000;

export const gemini: Vendor = {
  name: 'gemini',
  events: {
    start: 'SessionStart',
    prompt: 'BeforeAgent',
    before: 'BeforeTool',
    after: 'AfterTool',
    stop: 'AfterAgent',
    end: 'SessionEnd',
  },
  configure(scene, { bridge, probe }) {
    scene.write('home/.gemini/settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      ...(bridge !== undefined && { mcpServers: { synod: { ...bridge, trust: true } } }),
      ...(probe !== undefined && {
        hooks: hookTable(gemini.events, probe.hook, HOOK_TIMEOUT_MS),
      }),
    });
    scene.write('home/.gemini/trustedFolders.json', { [scene.project]: 'TRUST_FOLDER' });
  },
  env: ({ model }) => ({ GEMINI_API_KEY: DUMMY_KEY, GOOGLE_GEMINI_BASE_URL: model }),
  headless: (prompt) => [
    '-p',
    prompt,
    '-m',
    'gemini-2.5-pro',
    '-o',
    'json',
    '--approval-mode',
    'auto_edit',
  ],
  toolName: (tool) => `mcp_synod_${tool}`,
  beforeTool: () => [],
  lookAt: (path) => ({ call: 'read_file', args: { file_path: path } }),
  writeFile: (path, content) => ({ call: 'write_file', args: { file_path: path, content } }),
  answers: {
    inject: (event, text) => ({
      hookSpecificOutput: { hookEventName: event, additionalContext: text },
    }),
    deny: (reason) => ({ decision: 'deny', reason }),
    block: (reason) => ({ decision: 'block', reason }),
  },
};
