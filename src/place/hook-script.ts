/**
 * The text of a hook: runs the hook that was there before, then `synod git hook NAME`.
 *
 * The command line is for ever: any version of Synod is called the same way [GI12]. Only the exit code
 * HELD_EXIT refuses a commit; a Synod that is gone, too old, broken or without a hub lets it pass and
 * says so, because a guard rail must not become a lock nobody has the key to [GI13].
 */
import { createHash } from 'node:crypto';

export const HOOK_NAMES = ['pre-commit', 'post-commit', 'post-merge'] as const;
export type HookName = (typeof HOOK_NAMES)[number];

/** How `synod git hook pre-commit` says that somebody else holds a path. No shell or runtime uses it. */
export const HELD_EXIT = 10;

const MARK = '# synod-hook';
const VERSION = 1;

export function isHookName(text: string): text is HookName {
  return (HOOK_NAMES as readonly string[]).includes(text);
}

/** Beside the hook, so that a script that asks for its own folder still finds it. */
export function keptName(name: HookName): string {
  return `${name}.synod-kept`;
}

/** The seal tells a hook of ours from one that somebody has edited since. */
export function hookScript(name: HookName, shim: string): string {
  const body = name === 'pre-commit' ? preCommit(shim) : afterwards(name, shim);
  return `#!/bin/sh\n${MARK} ${VERSION} ${seal(body)}\n${body}`;
}

export type ScriptKind = 'ours' | 'edited' | 'foreign';

export function kindOfScript(bytes: Buffer): ScriptKind {
  const text = bytes.toString('latin1');
  const [, second = ''] = text.split('\n', 2);
  if (!second.startsWith(`${MARK} `)) {
    return text.includes(`\n${MARK} `) ? 'edited' : 'foreign';
  }
  const start = text.indexOf(second) + second.length + 1;
  const body = bytes.subarray(start);
  const isOurs = text.startsWith(`#!/bin/sh\n${MARK} `) && second.endsWith(` ${seal(body)}`);
  return isOurs ? 'ours' : 'edited';
}

function seal(body: string | Buffer): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}

export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function opening(name: HookName, shim: string): string {
  return `# Written by "synod git hooks install". "synod git hooks uninstall" puts back what was here.
kept="\${0%/*}/${keptName(name)}"
run_kept() {
  [ -x "$kept" ] || return 0
  IFS= read -r first < "$kept" || :
  case "$first" in
    # Read by a shell that thinks it runs this file: some hooks ask for their own name.
    '#!/bin/sh' | '#!/usr/bin/env sh') SYNOD_KEPT="$kept" sh -c '. "$SYNOD_KEPT"' "$0" "$@" ;;
    *) "$kept" "$@" ;;
  esac
}
synod=${shellQuote(shim)}
command -v "$synod" > /dev/null 2>&1 || synod=synod
`;
}

function preCommit(shim: string): string {
  return `${opening('pre-commit', shim)}run_kept "$@" || exit $?
if ! command -v "$synod" > /dev/null 2>&1; then
  echo 'synod: not found, so nobody checked whose files these are; "synod git hooks uninstall" ends this' >&2
  exit 0
fi
"$synod" git hook pre-commit "$@" < /dev/null
case $? in
  0) exit 0 ;;
  ${HELD_EXIT}) exit 1 ;;
esac
echo 'synod: could not check whose files these are; the commit goes on' >&2
exit 0
`;
}

function afterwards(name: HookName, shim: string): string {
  return `${opening(name, shim)}run_kept "$@"
code=$?
if command -v "$synod" > /dev/null 2>&1; then
  "$synod" git hook ${name} "$@" < /dev/null || :
fi
exit $code
`;
}
