/** Every vendor's hooks, by its name. */

import type { Vendor } from '../../wire/tool-names.ts';
import type { HookDialect } from './hook-event.ts';
import { claudeHooks } from './vendors/claude-hooks.ts';
import { codexHooks } from './vendors/codex-hooks.ts';
import { geminiHooks } from './vendors/gemini-hooks.ts';
import { opencodeHooks } from './vendors/opencode-hooks.ts';

export const DIALECTS: Readonly<Record<Vendor, HookDialect>> = {
  claude: claudeHooks,
  codex: codexHooks,
  gemini: geminiHooks,
  opencode: opencodeHooks,
};
