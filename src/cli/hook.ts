/**
 * `synod hook VENDOR`: hands a hook's input to the hub and prints its answer, as the small script that
 * `synod install` writes does, for machines without curl. Whatever goes wrong it is silent and ends
 * with 0: a hook that fails would hold up the agent [HD2].
 */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ask, readText } from '../client/node/http.ts';
import { type Globals, resolveTarget, type Target } from '../client/node/target.ts';
import { isVendor } from '../wire/tool-names.ts';
import { readStdin } from './body-input.ts';
import { handle } from './context.ts';

const ANSWER_MS = 1_000;
const WAKE_MS = 60_000;
const UNASKED_MAX = 1_000;

export function registerHook(program: Command): void {
  const command = program
    .command('hook', { hidden: true })
    .description('hand a hook of a coding agent to the hub; silent when there is none')
    .argument('<vendor>')
    .argument('[what]', 'wake: wait until the session has reason to; gate: wait for people')
    .argument('[which]', 'the session, or how many seconds');
  handle<Globals>(command, async ({ args, flags, print }) => {
    const [vendor = '', what, which = ''] = args;
    try {
      // In a turn that the hub runs, it shows the mail itself.
      if (!isVendor(vendor) || process.env.SYNOD_TURN) return;
      const target = resolveTarget(flags);
      const path = `/v1/hooks/${vendor}`;
      const answer =
        what === 'wake'
          ? await read(target, `${path}/wake?session=${encodeURIComponent(which)}`, null, WAKE_MS)
          : what === 'gate'
            ? await readDecided(target, path, await readStdin(), Number(which) || 0)
            : await readCounted(target, path, await readStdin());
      if (answer !== '') print(answer);
    } catch {
      // No hub, or none that answers: as if there were no hook.
    }
  });
}

/** People are asked; without their answer the harness asks at its terminal [PG1]. */
function readDecided(target: Target, path: string, body: string, seconds: number): Promise<string> {
  const headers = { 'x-synod-wait': String(seconds) };
  return read(target, `${path}/gate`, body, seconds * 1_000 + 2 * ANSWER_MS, headers);
}

/** A hook without an answer is remembered, a line each, until one gets through and tells the hub [GD6]. */
async function readCounted(target: Target, path: string, body: string): Promise<string> {
  const file = join(target.dir, 'unasked');
  const { length: missed } = await readFile(file, 'utf8').then(
    (text) => text.trim().split(/\s+/).filter(Boolean),
    () => [],
  );
  try {
    const answer = await read(target, path, body, ANSWER_MS, { 'x-synod-unasked': String(missed) });
    if (missed > 0) await writeFile(file, '');
    return answer;
  } catch (cause) {
    if (missed < UNASKED_MAX) await appendFile(file, '.\n');
    throw cause;
  }
}

async function read(
  target: Target,
  path: string,
  body: string | null,
  timeoutMs: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { env } = process;
  const name = env.SYNOD_AGENT || env.SOX_AGENT_ID || null;
  const response = await ask(
    { ...target, agent: null },
    {
      method: body === null ? 'GET' : 'POST',
      path,
      ...(body !== null && { body }),
      headers: {
        ...headers,
        'x-synod-parent': String(process.ppid),
        ...(name !== null && { 'x-synod-agent': name }),
        ...(env.CLAUDE_CODE_MESSAGING_SOCKET && {
          'x-synod-claude-socket': env.CLAUDE_CODE_MESSAGING_SOCKET,
        }),
        ...(env.CODEX_HOME && { 'x-synod-codex-home': env.CODEX_HOME }),
      },
      timeoutMs,
    },
  );
  const text = await readText(response);
  return response.statusCode === 200 ? text.trim() : '';
}
