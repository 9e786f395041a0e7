/**
 * Claude Code's hooks in our words and back (2.1). A tool that failed is reported under a name of
 * its own; the stop of a subagent is a stop, and says which.
 */
import { type HookDialect, type HookKind, isUnheard } from '../hook-event.ts';
import { readFlat, type VendorTools } from './reading.ts';
import { writeNested } from './writing.ts';

const KINDS: Readonly<Record<string, HookKind>> = {
  SessionStart: 'session_started',
  UserPromptSubmit: 'turn_started',
  PreToolUse: 'tool_about',
  PostToolUse: 'tool_used',
  PostToolUseFailure: 'tool_used',
  Stop: 'stop_requested',
  SubagentStop: 'stop_requested',
  SessionEnd: 'session_ended',
};

const TOOLS: VendorTools = {
  edits: {
    Edit: 'file_path',
    MultiEdit: 'file_path',
    Write: 'file_path',
    NotebookEdit: 'notebook_path',
  },
  patches: {},
  shells: { Bash: 'command' },
  folder: null,
};

export const claudeHooks: HookDialect = {
  read(input) {
    const event = readFlat('claude', input, KINDS, TOOLS);
    if (isUnheard(event) || event.name !== 'PostToolUseFailure') return event;
    return { ...event, isFailure: true };
  },
  write: writeNested,
};
