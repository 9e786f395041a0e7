/**
 * Every vendor's hooks in our words and back: what its events and tools are called, where it takes a
 * text, and in which fields it takes an answer. What holds for all of them is in `dialect.ts`.
 */
import type { Fields } from '../../../wire/fields.ts';
import type { Vendor } from '../../../wire/tool-names.ts';
import type { HookDialect, HookEvent, HookKind } from '../hook-event.ts';
import { createDialect } from './dialect.ts';

const nested = ({ name }: HookEvent, fields: Fields): Fields => ({
  hookSpecificOutput: { hookEventName: name, ...fields },
});

/**
 * Claude Code and Codex take answers in one form. Each holds only fields that both know for that event,
 * because Codex voids an answer with any other [HK4]. At a stop no text is injected: Claude Code would
 * take it for a reason to go on, and Codex has no field for it.
 */
const NESTED_ANSWERS = {
  takesText: ['session_started', 'turn_started', 'tool_about', 'tool_used'] as HookKind[],
  inject: (text: string, event: HookEvent) => nested(event, { additionalContext: text }),
  deny: (reason: string, event: HookEvent) =>
    nested(event, { permissionDecision: 'deny', permissionDecisionReason: reason }),
  block: (reason: string) => ({ decision: 'block', reason }),
  prompt: {
    permit: (event: HookEvent) => nested(event, { decision: { behavior: 'allow' } }),
    forbid: (message: string, event: HookEvent) =>
      nested(event, { decision: { behavior: 'deny', message } }),
  },
};

/** 2.1. A tool that failed is reported under a name of its own; the stop of a subagent is a stop. */
const claude = createDialect('claude', {
  ...NESTED_ANSWERS,
  kinds: {
    SessionStart: 'session_started',
    UserPromptSubmit: 'turn_started',
    PreToolUse: 'tool_about',
    PostToolUse: 'tool_used',
    PostToolUseFailure: 'tool_used',
    PermissionRequest: 'asked',
    Stop: 'stop_requested',
    SubagentStop: 'stop_requested',
    SessionEnd: 'session_ended',
  },
  // After an interrupt no stop is told, but that it waits for its person.
  notices: { elicitation_dialog: 'asked', idle_prompt: 'rested' },
  failure: 'PostToolUseFailure',
  tools: {
    edits: {
      Edit: 'file_path',
      MultiEdit: 'file_path',
      Write: 'file_path',
      NotebookEdit: 'notebook_path',
    },
    patches: {},
    shells: { Bash: 'command' },
    folder: null,
    questions: { AskUserQuestion: 'questions', ExitPlanMode: 'plan' },
  },
});

/** 0.166. Hooks see every shell as `Bash`, whatever the model calls it, and an edit as a patch. */
const codex = createDialect('codex', {
  ...NESTED_ANSWERS,
  kinds: {
    SessionStart: 'session_started',
    UserPromptSubmit: 'turn_started',
    PreToolUse: 'tool_about',
    PostToolUse: 'tool_used',
    PermissionRequest: 'asked',
    Stop: 'stop_requested',
    SubagentStop: 'stop_requested',
    SessionEnd: 'session_ended',
  },
  tools: {
    edits: {},
    patches: { apply_patch: 'command' },
    shells: { Bash: 'command' },
    folder: null,
    questions: { request_user_input: 'questions' },
  },
});

/**
 * 0.61. One word, `deny`, refuses a tool and sends an agent on that wants to stop; before a tool it
 * takes no text. It shows `<` as `&lt;`, which is why nothing we inject is written in tags. Its prompt is
 * told to a hook and heeds none: what a hook says before a tool can forbid it, but not answer for a person.
 */
const gemini = createDialect('gemini', {
  kinds: {
    SessionStart: 'session_started',
    BeforeAgent: 'turn_started',
    BeforeTool: 'tool_about',
    AfterTool: 'tool_used',
    AfterAgent: 'stop_requested',
    SessionEnd: 'session_ended',
  },
  notices: { ToolPermission: 'asked' },
  tools: {
    edits: { replace: 'file_path', write_file: 'file_path' },
    patches: {},
    shells: { run_shell_command: 'command' },
    folder: 'dir_path',
    questions: { ask_user: 'questions' },
  },
  takesText: ['session_started', 'turn_started', 'tool_used'],
  inject: (text, event) => nested(event, { additionalContext: text }),
  deny: (reason) => ({ decision: 'deny', reason }),
  block: (reason) => ({ decision: 'deny', reason }),
});

/**
 * 1.18. It has no shell hooks: a plugin of ours posts what it sees, in the flat form of the others with
 * opencode's own names, and carries out the answer:
 *
 *   `{throw}`   throw an Error with this message, so that the tool is not run;
 *   `{append}`  add this to the tool's output, or to the parts of the message;
 *   `{prompt}`  give the idle session this as its next prompt;
 *   `{reply}`   answer the permission prompt so, with `{message}` where it is no.
 */
const opencode = createDialect('opencode', {
  kinds: {
    'session.created': 'session_started',
    'chat.message': 'turn_started',
    'tool.execute.before': 'tool_about',
    'tool.execute.after': 'tool_used',
    'permission.asked': 'asked',
    'permission.replied': 'answered',
    'session.idle': 'stop_requested',
    'session.deleted': 'session_ended',
  },
  tools: {
    edits: { edit: 'filePath', multiedit: 'filePath', write: 'filePath' },
    patches: { apply_patch: 'patchText', patch: 'patchText' },
    shells: { bash: 'command' },
    folder: 'workdir',
    questions: { question: 'questions' },
  },
  takesText: ['tool_used', 'turn_started'],
  inject: (text) => ({ append: text }),
  deny: (reason) => ({ throw: reason }),
  block: (reason) => ({ prompt: reason }),
  prompt: {
    permit: () => ({ reply: 'once' }),
    forbid: (message) => ({ reply: 'reject', message }),
  },
});

export const DIALECTS: Readonly<Record<Vendor, HookDialect>> = { claude, codex, gemini, opencode };
