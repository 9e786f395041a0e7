/**
 * opencode's events in our words and back (1.18). It has no shell hooks: a plugin of ours posts what
 * it sees, in the flat form of the others with opencode's own names, and carries out the answer:
 *
 *   `{throw}`   throw an Error with this message, so that the tool is not run;
 *   `{append}`  add this to the tool's output, or to the parts of the message;
 *   `{prompt}`  give the idle session this as its next prompt.
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
  'session.created': 'session_started',
  'chat.message': 'turn_started',
  'tool.execute.before': 'tool_about',
  'tool.execute.after': 'tool_used',
  'session.idle': 'stop_requested',
  'session.deleted': 'session_ended',
};

const TOOLS: VendorTools = {
  edits: { edit: 'filePath', multiedit: 'filePath', write: 'filePath' },
  patches: { apply_patch: 'patchText', patch: 'patchText' },
  shells: { bash: 'command' },
  folder: 'workdir',
};

export const opencodeHooks: HookDialect = {
  read: (input) => readFlat('opencode', input, KINDS, TOOLS),
  write,
};

function write(answer: HookAnswer, event: HookEvent): HookOutput {
  switch (answer.act) {
    case 'noop':
    case 'allow':
      return SILENCE;
    case 'inject':
      if (event.kind !== 'tool_used' && event.kind !== 'turn_started') return UNDELIVERED;
      return delivered({ append: fitted(answer.text, INJECTED_CHARS_MAX) });
    case 'deny':
      if (event.kind !== 'tool_about') return UNDELIVERED;
      return delivered({ throw: fitted(answer.reason, REASON_CHARS_MAX) });
    case 'block':
      if (event.kind !== 'stop_requested') return UNDELIVERED;
      return delivered({ prompt: fitted(answer.reason, REASON_CHARS_MAX) });
  }
}
