/**
 * Gemini CLI's hooks in our words and back (0.61). It has one word, `deny`, for refusing a tool and
 * for sending an agent on that wants to stop; before a tool it takes no text. It shows `<` as
 * `&lt;`, which is why nothing we inject is written in tags.
 */
import {
  delivered,
  fitted,
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  type HookKind,
  type HookOutput,
  INJECTED_CHARS_MAX,
  REASON_CHARS_MAX,
  SILENCE,
  UNDELIVERED,
} from '../hook-event.ts';
import { readFlat, type VendorTools } from './reading.ts';

const KINDS: Readonly<Record<string, HookKind>> = {
  SessionStart: 'session_started',
  BeforeAgent: 'turn_started',
  BeforeTool: 'tool_about',
  AfterTool: 'tool_used',
  AfterAgent: 'stop_requested',
  SessionEnd: 'session_ended',
};

const TOOLS: VendorTools = {
  edits: { replace: 'file_path', write_file: 'file_path' },
  patches: {},
  shells: { run_shell_command: 'command' },
  folder: 'dir_path',
};

const TAKES_TEXT: readonly HookKind[] = ['session_started', 'turn_started', 'tool_used'];

export const geminiHooks: HookDialect = {
  read: (input) => readFlat('gemini', input, KINDS, TOOLS),
  write,
};

function write(answer: HookAnswer, event: HookEvent): HookOutput {
  const deny = (reason: string): HookOutput =>
    delivered({ decision: 'deny', reason: fitted(reason, REASON_CHARS_MAX) });
  switch (answer.act) {
    case 'noop':
    case 'allow':
      return SILENCE;
    case 'inject':
      if (!TAKES_TEXT.includes(event.kind)) return UNDELIVERED;
      return delivered({
        hookSpecificOutput: {
          hookEventName: event.name,
          additionalContext: fitted(answer.text, INJECTED_CHARS_MAX),
        },
      });
    case 'deny':
      return event.kind === 'tool_about' ? deny(answer.reason) : UNDELIVERED;
    case 'block':
      return event.kind === 'stop_requested' ? deny(answer.reason) : UNDELIVERED;
  }
}
