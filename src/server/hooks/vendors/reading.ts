/**
 * Reading what a hook was handed: parsed JSON whose shape nobody vouches for. A field that is not
 * what it should be is absent; only a missing session or event name makes the whole unheard [HK1].
 */
import { resolve } from 'node:path';
import { type Fields, fieldsOf, isFields, textOf } from '../../../wire/fields.ts';
import type { Vendor } from '../../../wire/tool-names.ts';
import type { HookEvent, HookKind, Unheard } from '../hook-event.ts';
import { patchPaths } from './patch-paths.ts';

const SESSION_CHARS_MAX = 256;

/** Which tools of a vendor write files or run a shell, and in which field they say what. */
export interface VendorTools {
  readonly edits: Readonly<Record<string, string>>;
  /** Tools whose field holds a patch that names the files itself. */
  readonly patches: Readonly<Record<string, string>>;
  readonly shells: Readonly<Record<string, string>>;
  /** Where a shell tool says that it runs elsewhere. */
  readonly folder: string | null;
}

/** What Claude Code, Codex and Gemini share: one flat object with `hook_event_name`. */
export function readFlat(
  vendor: Vendor,
  input: unknown,
  kinds: Readonly<Record<string, HookKind>>,
  tools: VendorTools,
): HookEvent | Unheard {
  if (!isFields(input)) return { unheard: 'the input is not an object' };
  const name = textOf(input, 'hook_event_name');
  if (name === null) return { unheard: 'the input has no hook_event_name' };
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind === undefined) return { unheard: `${JSON.stringify(name.slice(0, 64))} is not ours` };
  const session = sessionOf(textOf(input, 'session_id'));
  if (session === null) return { unheard: `${name} came without a usable session_id` };
  const tool = kind === 'tool_about' || kind === 'tool_used' ? textOf(input, 'tool_name') : null;
  return {
    kind,
    vendor,
    name,
    session,
    subagent: textOf(input, 'agent_id'),
    agentName: textOf(input, 'agent_name'),
    tool,
    callId: textOf(input, 'tool_use_id'),
    ...touched(tool, fieldsOf(input, 'tool_input'), textOf(input, 'cwd'), tools),
    isFailure: kind === 'tool_used' && hasFailed(input.tool_response),
    source: textOf(input, 'source') ?? textOf(input, 'reason'),
    isStopRepeated: input.stop_hook_active === true,
  };
}

export function sessionOf(text: string | null): string | null {
  return text !== null && text.length <= SESSION_CHARS_MAX ? text : null;
}

export function touched(
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
