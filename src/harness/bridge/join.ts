/**
 * `synod mcp --harness VENDOR`: which agent is this server of a coding agent? The hub knows it from the
 * session's hooks, and is asked with what this process can tell: the session in its environment, the
 * session in the first call, or else the process that started both [SB4]. Until a vendor has said its
 * session nothing is guessed, so the question waits for the first call where it must.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { ask, readText } from '../../client/node/http.ts';
import type { Target } from '../../client/node/target.ts';
import { readJson } from '../../core/law/json.ts';
import type { Fields } from '../../wire/fields.ts';
import type { Vendor } from '../../wire/tool-names.ts';

const JOIN_MS = 3_000;
const SESSION_CHARS_MAX = 256;

/** Whether the session can be told before any call: it stands in the environment. */
export function isSessionKnown(vendor: Vendor, env: NodeJS.ProcessEnv): boolean {
  return vendor === 'claude' && Boolean(env.CLAUDE_CODE_SESSION_ID);
}

/** The session a call says it belongs to; only Codex says so. */
export function sessionOfCall(vendor: Vendor, meta: Fields): string | null {
  if (vendor !== 'codex') return null;
  for (const name of ['threadId', 'sessionId'] as const) {
    const said = meta[name];
    if (typeof said === 'string' && said !== '' && said.length <= SESSION_CHARS_MAX) return said;
  }
  return null;
}

/** The agent of this session as the hub has it; the vendor's name when the hub cannot say. */
export async function joinHub(
  target: Target,
  vendor: Vendor,
  facts: { readonly session: string | null; readonly name: string | null },
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const session = facts.session ?? (vendor === 'claude' ? env.CLAUDE_CODE_SESSION_ID : null);
  const body = {
    session: session ?? null,
    parent: harnessPid(),
    agent: facts.name,
    socket: vendor === 'claude' ? env.CLAUDE_CODE_MESSAGING_SOCKET : undefined,
    token: vendor === 'claude' ? env.CLAUDE_CODE_MESSAGING_TOKEN : undefined,
  };
  const fallback = facts.name ?? vendor;
  try {
    const response = await ask(
      { ...target, agent: null },
      {
        method: 'POST',
        path: `/v1/hooks/${vendor}/join`,
        body: JSON.stringify(body),
        timeoutMs: JOIN_MS,
      },
    );
    const { agent } = readJson(await readText(response)) as { agent?: unknown };
    return response.statusCode === 200 && typeof agent === 'string' ? agent : fallback;
  } catch {
    // An older hub, or a token that may not ask: then a name is all there is.
    return fallback;
  }
}

/**
 * The process of the harness: our parent, unless bin/synod.js went on with another Node and stands
 * between. That one runs the same file as we do.
 */
function harnessPid(): number {
  const parent = process.ppid;
  try {
    const [, program] = readFileSync(`/proc/${parent}/cmdline`, 'utf8').split('\0');
    const [, own = ''] = process.argv;
    if (program && realpathSync(resolve(program)) === realpathSync(own)) {
      const stat = readFileSync(`/proc/${parent}/stat`, 'latin1');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) || parent;
    }
  } catch {
    // No /proc, or a parent that runs no file: the parent it is.
  }
  return parent;
}
