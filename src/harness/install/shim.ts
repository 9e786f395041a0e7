/**
 * What other people's configurations call, and what is behind it.
 *
 * The lines written into configurations are for ever: they name two small scripts in Synod's home,
 * and never a version, a path of this machine or anything else that changes [IN9]. A harness that
 * asks for trust line by line is therefore asked once. The scripts are ours and change with us.
 */
import { join } from 'node:path';
import type { Vendor } from '../../wire/tool-names.ts';
import { sealText } from './seal.ts';
import type { InstallSite } from './vendors/vendor.ts';

export const HOOK_TIMEOUT_SECONDS = 5;
/** As seen by the script: the harness gives more, so that it is never the one to complain. */
const ANSWER_TIMEOUT_SECONDS = 1;
/** Hooks without an answer that are remembered until the hub is told. */
const UNASKED_MAX = 1_000;
/** Longer than the hub lets a session wait. */
const WAKE_TIMEOUT_SECONDS = 60;

/** The folder of both scripts. */
export function launcherFolder(synodHome: string): string {
  return join(synodHome, 'bin');
}

export function hookShimPath(synodHome: string): string {
  return join(launcherFolder(synodHome), 'hook');
}

export function launcherPath(synodHome: string): string {
  return join(launcherFolder(synodHome), 'synod');
}

/** The command line of every hook: silent and harmless where Synod is not. */
export function hookCommand(vendor: Vendor, waitSeconds: number | null = null): string {
  const words = waitSeconds === null ? vendor : `${vendor} gate ${waitSeconds}`;
  return `h="\${SYNOD_HOME:-$HOME/.synod}/bin/hook"; [ -x "$h" ] && exec "$h" ${words} || exit 0`;
}

/** How long the harness gives a hook; the script gives up before, and the hub before that. */
export function hookTimeoutSeconds(waitSeconds: number | null = null): number {
  return waitSeconds === null ? HOOK_TIMEOUT_SECONDS : waitSeconds + HOOK_TIMEOUT_SECONDS;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * How a harness starts our MCP server. A project's files travel to other machines and other homes,
 * so there a shell finds the launcher; the shell then is the launcher, and leaves no process between.
 */
export function serverCommand(vendor: Vendor, site: InstallSite): ServerCommand {
  const args = ['mcp', '--harness', vendor];
  if (site.scope === 'user') return { command: launcherPath(site.synodHome), args };
  const line = `exec "\${SYNOD_HOME:-$HOME/.synod}/bin/synod" ${args.join(' ')}`;
  return { command: 'sh', args: ['-c', line] };
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Runs the Synod that installed it, at the hub it was told of; null is the one in the home. */
export function launcherScript(node: string, program: string, dir: string | null = null): string {
  const place =
    dir === null ? '' : `dir=${shellQuote(dir)}\nexport SYNOD_DIR="\${SYNOD_DIR:-$dir}"\n`;
  return sealText(
    `#!/bin/sh
# Written by "synod install"; "synod upgrade" writes it anew, "synod uninstall" removes it.
${place}node=${shellQuote(node)}
program=${shellQuote(program)}
[ -x "$node" ] || node=node
if [ ! -f "$program" ]; then
  echo "synod: $program is gone; install Synod again and run: synod upgrade" >&2
  exit 127
fi
exec "$node" "$program" "$@"
`,
    'hash',
  );
}

/** The data directory that a launcher was told of; null where it was told of none. */
export function launcherDirectory(script: string): string | null {
  const [, quoted] = /^dir='(.*)'$/m.exec(script) ?? [];
  return quoted?.replaceAll("'\\''", "'") ?? null;
}

/**
 * Hands a hook's input to the hub that runs, and its answer back; says nothing when there is none. It
 * starts no program but curl, because a hook is waited for at every step of an agent [HD6]. It shows no
 * credential: the owner's socket needs none, and a hub without one is asked by Synod itself. A hook
 * without an answer lets the agent go on unguarded; the next one that gets through tells the hub [GD6].
 */
export function hookShim(dir: string | null = null): string {
  return sealText(
    `#!/bin/sh
# Written by "synod install". Usage: hook VENDOR [gate SECONDS] < event, or hook VENDOR wake SESSION.
# Whatever goes wrong, silence and exit 0.
# In a turn that the hub runs, it shows the mail itself.
[ -z "\${SYNOD_TURN-}" ] || exit 0
dir=${dir === null ? '"$HOME/.synod"' : shellQuote(dir)}
dir="\${SYNOD_DIR:-$dir}"
if [ -z "\${SYNOD_DIR-}" ] && [ -r "\${SYNOD_HOME:-/}/hub.json" ]; then dir=$SYNOD_HOME; fi
[ -r "$dir/hub.json" ] || exit 0
IFS= read -r hub < "$dir/hub.json" || :
# The value of a field in the one line of the file; a number ends at its comma.
field() {
  value=\${hub#*\\"$1\\":}
  case $value in
    "$hub") value= ;;
    \\"*) value=\${value#\\"} value=\${value%%\\"*} ;;
    *) value=\${value%%[,\\}]*} ;;
  esac
}
field url && url=$value
# Whoever is told to use another hub has nothing to do with this one.
case \${SYNOD_URL-} in '' | "$url" | "$url/") ;; *) exit 0 ;; esac
field socket && socket=$value
field pid && pid=$value
# Without curl Synod itself asks, and without a socket too: it has the hub prove itself first.
if ! command -v curl > /dev/null 2>&1 || { [ ! -S "$socket" ] && kill -0 "$pid" 2> /dev/null; }; then
  [ -x "\${0%/*}/synod" ] && exec "\${0%/*}/synod" hook "$@" 2> /dev/null
  exit 0
fi
name=\${SYNOD_AGENT:-\${SOX_AGENT_ID-}}
case $name in ?*/?* | '') ;; *) name=\${SYNOD_PROJECT:+$SYNOD_PROJECT/}$name ;; esac
url="\${url%/}/v1/hooks/$1"
missed=0 unasked="$dir/unasked"
if [ "\${2-}" = wake ]; then
  unasked= url="$url/wake"
  set -- -m ${WAKE_TIMEOUT_SECONDS} -G --data-urlencode "session=\${3-}"
elif [ "\${2-}" = gate ]; then
  # People are asked; without their answer the harness asks at its terminal.
  unasked= url="$url/gate"
  set -- -m $((\${3:-0} + ${ANSWER_TIMEOUT_SECONDS * 2})) -H "X-Synod-Wait: \${3:-0}" -H 'Content-Type: application/json' -H 'Expect:' --data-binary @-
else
  if [ -s "$unasked" ]; then while IFS= read -r _; do missed=$((missed + 1)); done < "$unasked"; fi
  set -- -m ${ANSWER_TIMEOUT_SECONDS} -H "X-Synod-Unasked: $missed" -H 'Content-Type: application/json' -H 'Expect:' --data-binary @-
fi
set -- "$@" -H "X-Synod-Parent: $PPID" -H "X-Synod-Agent: $name" \\
  -H "X-SOX-Namespace: \${SOX_NAMESPACE-}" \\
  -H "X-Synod-Claude-Socket: \${CLAUDE_CODE_MESSAGING_SOCKET-}" \\
  -H "X-Synod-Codex-Home: \${CODEX_HOME-}" "$url"
# Nobody answered: that goes on the record when somebody does.
miss() {
  [ -z "$unasked" ] || [ $missed -ge ${UNASKED_MAX} ] || echo . 2> /dev/null >> "$unasked"
  exit 0
}
[ -S "$socket" ] || miss
answer=$(exec curl -q -s -f --noproxy '*' --unix-socket "$socket" "$@" 2> /dev/null) || miss
[ $missed -eq 0 ] || : 2> /dev/null > "$unasked"
# Whole or not at all: half an answer is no JSON.
[ -z "\${answer-}" ] || printf '%s\\n' "$answer"
exit 0
`,
    'hash',
  );
}
