/**
 * The environment in which a vendor runs our parts, as it was seen to give it: whole, or only what it
 * lets through; with its own words for "the value of this variable" in a configuration replaced.
 *
 * The doctor may itself run inside a session of a coding agent. Whatever names that session is taken
 * out first, so that the canary is never taken for it, nor reached through its socket [DO2].
 */
import type { Vendor } from '../../wire/tool-names.ts';
import { canaryName } from './canary.ts';
import type { Registered } from './registered.ts';

export type Environment = Readonly<Record<string, string>>;

const OF_A_SESSION =
  /^(CLAUDE_CODE_(SESSION_ID|MESSAGING_.*|SESSION_.*|ENTRYPOINT|SSE_PORT)|CLAUDE_PID|CLAUDECODE|CLAUDE_(PROJECT_DIR|ENV_FILE|AGENT_NAME)|AI_AGENT|CODEX_(SESSION|THREAD|TOOL_CALL)_ID|GEMINI_(SESSION_ID|PROJECT_DIR|CWD|CLI)|OPENCODE(_PID)?|AGENT|SYNOD_(AGENT|PROJECT)|SOX_AGENT_ID(_SOURCE)?)$/;

/** Codex starts servers with these and with what the configuration names. */
const CODEX_PASSES: readonly string[] = [
  ...['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'],
  ...[
    '__CF_USER_TEXT_ENCODING',
    'SYSTEMROOT',
    'USERPROFILE',
    'APPDATA',
    'LOCALAPPDATA',
    'TEMP',
    'TMP',
  ],
];

/** Gemini CLI keeps from servers what looks like a secret, unless the configuration gives it. */
const LOOKS_SECRET = /TOKEN|SECRET|PASSWORD|PASSWD|_KEY$|AUTH|CREDENTIAL|PRIVATE|CERT/i;

/** The caller's environment without whatever session it belongs to. */
export function cleanEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || OF_A_SESSION.test(name) ? [] : [[name, value]],
    ),
  );
}

export interface VendorSession {
  readonly id: string;
  readonly root: string;
}

/** For the MCP server. It bears the canary's name, unless it has a token: a token says whose it is. */
export function serverEnvironment(
  vendor: Vendor,
  clean: Environment,
  server: Pick<Registered, 'env' | 'envVars'>,
  session: VendorSession,
): Environment {
  const said = Object.fromEntries(
    Object.entries(server.env).map(([name, text]) => [name, expand(vendor, text, clean)]),
  );
  const token = said.SYNOD_TOKEN ?? given(vendor, clean, server, session).SYNOD_TOKEN;
  const named = token ? clean : { ...clean, SYNOD_AGENT: canaryName(vendor) };
  return { ...given(vendor, named, server, session), ...said };
}

/** What of its own environment the vendor gives a server. */
function given(
  vendor: Vendor,
  env: Environment,
  { envVars }: Pick<Registered, 'envVars'>,
  session: VendorSession,
): Environment {
  switch (vendor) {
    case 'claude':
      return { ...env, ...claudeSession(session) };
    case 'codex':
      return only(env, (name) => CODEX_PASSES.includes(name) || envVars.includes(name));
    case 'gemini':
      return { ...only(env, (name) => !LOOKS_SECRET.test(name)), GEMINI_CLI: '1' };
    case 'opencode':
      return { ...env, OPENCODE: '1', AGENT: '1', OPENCODE_PID: `${process.pid}` };
  }
}

function claudeSession({ id, root }: VendorSession): Environment {
  return { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: id, CLAUDE_PROJECT_DIR: root };
}

function only(env: Environment, isKept: (name: string) => boolean): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

/** For a hook. */
export function hookEnvironment(
  vendor: Vendor,
  clean: Environment,
  session: VendorSession,
): Environment {
  const { id, root } = session;
  const own = { SYNOD_AGENT: canaryName(vendor) };
  switch (vendor) {
    case 'claude':
      return { ...clean, ...claudeSession(session), ...own };
    case 'gemini':
      return {
        ...clean,
        ...{ GEMINI_CLI: '1', GEMINI_SESSION_ID: id, GEMINI_PROJECT_DIR: root, GEMINI_CWD: root },
        ...own,
      };
    case 'codex':
      return { ...clean, ...own };
    case 'opencode':
      return { ...clean, OPENCODE: '1', ...own };
  }
}

/** Each vendor's own way to say a variable in a configuration. */
export function expand(vendor: Vendor, text: string, env: Environment): string {
  switch (vendor) {
    case 'claude':
      return text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (all, name, other) => {
        return env[name] ?? other ?? all;
      });
    case 'gemini':
      return text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (all, bare, braced) => {
        return env[bare ?? braced] ?? all;
      });
    case 'opencode':
      return text.replace(/\{env:(\w+)\}/g, (_, name) => env[name] ?? '');
    case 'codex':
      return text;
  }
}
