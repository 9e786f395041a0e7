/**
 * How every vendor's hooks are read and answered; the vendors differ in words alone, in `vendors.ts`.
 *
 * What a hook was handed is JSON of any shape: a field that is not what it should be is absent, and
 * only a missing session or event name makes the whole unheard [HK1]. A refusal is for a tool that has
 * not run yet and a block for a stop; a text goes where the vendor takes one. Whatever has no words at
 * that event is handed back [HK6]. Consent is silence, so it never answers a question for a person [HK5];
 * a person's own answer, given at a gate, is written where the vendor asked for it [PG3].
 */
import { resolve } from 'node:path';
import { type Fields, fieldsOf, isFields, textOf } from '../../../wire/fields.ts';
import type { Vendor } from '../../../wire/tool-names.ts';
import {
  fitted,
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  type HookKind,
  type HookOutput,
  INJECTED_CHARS_MAX,
  isUnheard,
  REASON_CHARS_MAX,
  SILENCE,
  UNDELIVERED,
  type Unheard,
} from '../hook-event.ts';

const SESSION_CHARS_MAX = 256;

/** Which tools of a vendor write files or run a shell, and in which field they say what. */
export interface VendorTools {
  readonly edits: Readonly<Record<string, string>>;
  /** Tools whose field holds a patch that names the files itself. */
  readonly patches: Readonly<Record<string, string>>;
  readonly shells: Readonly<Record<string, string>>;
  /** Where a shell tool says that it runs elsewhere. */
  readonly folder: string | null;
  /** Tools that only ask a person, and where they keep the words. */
  readonly questions: Readonly<Record<string, string>>;
}

/** What tells one vendor from another. */
export interface VendorWords {
  readonly kinds: Readonly<Record<string, HookKind>>;
  /** What a `Notification` means, by its type; others say nothing to us. */
  readonly notices?: Readonly<Record<string, HookKind>>;
  /** The event under which a failed tool is reported, where it has a name of its own. */
  readonly failure?: string;
  readonly tools: VendorTools;
  /** Events at which the vendor takes a text. */
  readonly takesText: readonly HookKind[];
  inject(text: string, event: HookEvent): Fields;
  deny(reason: string, event: HookEvent): Fields;
  block(reason: string): Fields;
  /** The answer of a person to a permission prompt; a vendor without it takes none from a hook [PG4]. */
  readonly prompt?: {
    permit(event: HookEvent): Fields;
    forbid(reason: string, event: HookEvent): Fields;
  };
}

export function createDialect(vendor: Vendor, words: VendorWords): HookDialect {
  return {
    takesVerdict: words.prompt !== undefined,
    read(input) {
      const event = readFlat(vendor, input, words);
      if (isUnheard(event) || event.name !== words.failure) return event;
      return { ...event, isFailure: true };
    },
    write(answer, event) {
      const json = jsonOf(answer, event, words);
      return json === null ? UNDELIVERED : json === 'silence' ? SILENCE : delivered(json);
    },
  };
}

function jsonOf(
  answer: HookAnswer,
  event: HookEvent,
  words: VendorWords,
): Fields | 'silence' | null {
  switch (answer.act) {
    case 'noop':
    case 'allow':
      return 'silence';
    case 'inject':
      if (!words.takesText.includes(event.kind)) return null;
      return words.inject(fitted(answer.text, INJECTED_CHARS_MAX), event);
    case 'deny':
      if (event.kind !== 'tool_about') return null;
      return words.deny(fitted(answer.reason, REASON_CHARS_MAX), event);
    case 'block':
      if (event.kind !== 'stop_requested') return null;
      return words.block(fitted(answer.reason, REASON_CHARS_MAX));
    case 'permit':
      return event.kind === 'asked' ? (words.prompt?.permit(event) ?? null) : null;
    case 'forbid':
      if (event.kind !== 'asked') return null;
      return words.prompt?.forbid(fitted(answer.reason, REASON_CHARS_MAX), event) ?? null;
  }
}

function delivered(json: Fields): HookOutput {
  return { json, isDelivered: true };
}

/** All of them send one flat object with `hook_event_name`. */
function readFlat(
  vendor: Vendor,
  input: unknown,
  { kinds, notices = {}, tools }: VendorWords,
): HookEvent | Unheard {
  if (!isFields(input)) return { unheard: 'the input is not an object' };
  const name = textOf(input, 'hook_event_name');
  if (name === null) return { unheard: 'the input has no hook_event_name' };
  const notice = name === 'Notification' ? (textOf(input, 'notification_type') ?? '') : null;
  const [table, word] = notice === null ? [kinds, name] : [notices, notice];
  const kind = Object.hasOwn(table, word) ? table[word] : undefined;
  if (kind === undefined) return { unheard: `${JSON.stringify(name.slice(0, 64))} is not ours` };
  const session = sessionOf(textOf(input, 'session_id'));
  if (session === null) return { unheard: `${name} came without a usable session_id` };
  const isOfTool = kind === 'tool_about' || kind === 'tool_used' || kind === 'asked';
  const tool = isOfTool ? textOf(input, 'tool_name') : null;
  const given = fieldsOf(input, 'tool_input');
  return {
    kind,
    vendor,
    name,
    session,
    subagent: textOf(input, 'agent_id'),
    agentName: textOf(input, 'agent_name'),
    tool,
    callId: textOf(input, 'tool_use_id'),
    ...touched(tool, given, textOf(input, 'cwd'), tools),
    words: wordsOf(tool, given, tools) ?? textOf(input, 'message'),
    isQuestion: tool !== null && Object.hasOwn(tools.questions, tool),
    isFailure: kind === 'tool_used' && hasFailed(input.tool_response),
    source: textOf(input, 'source') ?? textOf(input, 'reason'),
  };
}

function sessionOf(text: string | null): string | null {
  return text !== null && text.length <= SESSION_CHARS_MAX ? text : null;
}

function touched(
  tool: string | null,
  input: Fields,
  cwd: string | null,
  tools: VendorTools,
): Pick<HookEvent, 'paths' | 'command' | 'cwd'> {
  if (tool === null) return { paths: [], command: null, cwd };
  const patch = fieldNamed(tools.patches, tool, input);
  if (patch !== null) return { paths: patchPaths(patch), command: null, cwd };
  const path = fieldNamed(tools.edits, tool, input);
  if (path !== null) return { paths: [path], command: null, cwd };
  const command = fieldNamed(tools.shells, tool, input);
  if (command === null) return { paths: [], command: null, cwd };
  const folder = tools.folder === null ? null : textOf(input, tools.folder);
  return {
    // Codex carries a patch out itself when a shell is asked to apply one.
    paths: /\bapply_?patch\b/.test(command) ? patchPaths(command) : [],
    command,
    cwd: folder !== null && cwd !== null ? resolve(cwd, folder) : (folder ?? cwd),
  };
}

/** The first question a tool asks, or what the model said the call is for. */
function wordsOf(tool: string | null, input: Fields, { questions }: VendorTools): string | null {
  if (tool === null) return null;
  const field = Object.hasOwn(questions, tool) ? questions[tool] : undefined;
  if (field === undefined) return textOf(input, 'description');
  const asked = input[field];
  const first: unknown = Array.isArray(asked) ? asked[0] : asked;
  if (typeof first === 'string') return first;
  return isFields(first) ? textOf(first, 'question') : null;
}

function fieldNamed(
  names: Readonly<Record<string, string>>,
  tool: string,
  input: Fields,
): string | null {
  const field = Object.hasOwn(names, tool) ? names[tool] : undefined;
  return field === undefined ? null : textOf(input, field);
}

/** An MCP result says `isError`, Gemini's results `error`. */
function hasFailed(response: unknown): boolean {
  return (
    isFields(response) &&
    (response.isError === true || response.is_error === true || Boolean(response.error))
  );
}

/**
 * Which files a patch in the form of Codex touches: those it adds, changes, deletes, and where it
 * moves them. Lines of the files themselves begin with a space, `+` or `-`, so a patch about
 * patches is not misread.
 */
const PATCH_MARK = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/s;

export function patchPaths(patch: string): string[] {
  const paths = patch.split(/\r?\n/).flatMap((line) => {
    const [, path] = PATCH_MARK.exec(line) ?? [];
    return path === undefined || path.trimEnd() === '' ? [] : [path.trimEnd()];
  });
  return [...new Set(paths)];
}
