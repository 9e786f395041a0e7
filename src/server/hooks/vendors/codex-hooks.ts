/**
 * Codex's hooks in our words and back (0.166). Hooks see every shell as `Bash`, whatever the model
 * calls it, and an edit as a patch; its MCP tools carry the same prefix as in Claude Code.
 */
import type { HookDialect, HookKind } from '../hook-event.ts';
import { readFlat, type VendorTools } from './reading.ts';
import { writeNested } from './writing.ts';

const KINDS: Readonly<Record<string, HookKind>> = {
  SessionStart: 'session_started',
  UserPromptSubmit: 'turn_started',
  PreToolUse: 'tool_about',
  PostToolUse: 'tool_used',
  Stop: 'stop_requested',
  SubagentStop: 'stop_requested',
  SessionEnd: 'session_ended',
};

const TOOLS: VendorTools = {
  edits: {},
  patches: { apply_patch: 'command' },
  shells: { Bash: 'command' },
  folder: null,
};

export const codexHooks: HookDialect = {
  read: (input) => readFlat('codex', input, KINDS, TOOLS),
  write: writeNested,
};
