/**
 * The moments of a session in each vendor's words, as the doctor plays them, and how to read what a hook
 * answered. Kept apart from what the hub reads and writes, so that a slip there is not repeated here.
 */
import { type Fields, fieldsOf } from '../../wire/fields.ts';
import type { Vendor } from '../../wire/tool-names.ts';

export interface Moments {
  /** When something may be told to the session: the first of a session, or of a turn. */
  readonly greet: string;
  readonly prompt: string;
  readonly before: string;
  readonly stop: string;
  readonly end: string;
  edit(path: string): { readonly tool_name: string; readonly tool_input: Fields };
  /** What the session is told, null for nothing. */
  told(answer: Fields): string | null;
  /** Why the tool may not run, null for nothing. */
  refused(answer: Fields): string | null;
}

const nested = (answer: Fields): Fields => fieldsOf(answer, 'hookSpecificOutput');
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const claude: Moments = {
  greet: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  stop: 'Stop',
  end: 'SessionEnd',
  edit: (path) => ({ tool_name: 'Write', tool_input: { file_path: path, content: 'x' } }),
  told: (answer) => text(nested(answer).additionalContext),
  refused: (answer) => {
    const { permissionDecision, permissionDecisionReason } = nested(answer);
    return permissionDecision === 'deny' ? text(permissionDecisionReason) : null;
  },
};

export const MOMENTS: Readonly<Record<Vendor, Moments>> = {
  claude,
  codex: {
    ...claude,
    edit: (path) => ({
      tool_name: 'apply_patch',
      tool_input: { command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` },
    }),
  },
  gemini: {
    greet: 'SessionStart',
    prompt: 'BeforeAgent',
    before: 'BeforeTool',
    stop: 'AfterAgent',
    end: 'SessionEnd',
    edit: (path) => ({ tool_name: 'write_file', tool_input: { file_path: path, content: 'x' } }),
    told: claude.told,
    refused: ({ decision, reason }) => (decision === 'deny' ? text(reason) : null),
  },
  opencode: {
    greet: 'chat.message',
    prompt: 'chat.message',
    before: 'tool.execute.before',
    stop: 'session.idle',
    end: 'session.deleted',
    edit: (path) => ({ tool_name: 'write', tool_input: { filePath: path, content: 'x' } }),
    told: ({ append }) => text(append),
    refused: (answer) => text(answer.throw),
  },
};
