/**
 * Logins that were made: a file beside the keys, its owner's alone, and the tokens kept fresh while
 * the launcher runs. A token goes only to agents that were named for it, in the `Authorization` of
 * `headers` beside their messages, as the reference gives it; none is ever printed.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isObject, parseJson } from '../process/json-object.ts';
import { type OauthTokens, refresh } from './oauth-login.ts';
import { messageOfError, ProgramConfigError } from './program-error.ts';
import { writePrivately } from './registry-keys.ts';

export interface Login extends OauthTokens {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Who gets the token. */
  readonly agents: readonly string[];
}

export type Logins = ReadonlyMap<string, Login>;

/** So long before its end a token is renewed. */
const EARLY_MS = 300_000;
const LOOK_EVERY_MS = 60_000;

export const loginsPath = (apiKeys: string): string => join(dirname(apiKeys), 'agent-logins.json');

/** An absent file is an empty one. */
export async function readLogins(path: string): Promise<Logins> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new ProgramConfigError(`${path} cannot be read: ${messageOfError(cause)}`, { cause });
  }
  const value = parseJson(text);
  const logins = isObject(value) ? value.logins : undefined;
  if (!isObject(logins) || !Object.values(logins).every(isLogin)) {
    throw new ProgramConfigError(`${path} is no file of logins; remove it and run --login again`);
  }
  return new Map(Object.entries(logins) as unknown as [string, Login][]);
}

function isLogin(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { accessToken, tokenUrl, clientId, agents } = value;
  const areTexts = [accessToken, tokenUrl, clientId].every((one) => typeof one === 'string');
  return areTexts && Array.isArray(agents) && agents.every((one) => typeof one === 'string');
}

export function writeLogins(path: string, logins: Logins): Promise<void> {
  const document = { version: 1, logins: Object.fromEntries(logins) };
  return writePrivately(path, `${JSON.stringify(document, null, 2)}\n`);
}

/** Names and times only. */
export function loginsText(logins: Logins, now: number): readonly string[] {
  return [...logins].map(([provider, { expiresAt, refreshToken, agents }]) => {
    const isOver = expiresAt !== null && expiresAt <= now;
    const until = expiresAt === null ? '' : ` until ${new Date(expiresAt).toISOString()}`;
    const state = !isOver
      ? `logged in${until}`
      : refreshToken === null
        ? 'expired'
        : 'to be renewed';
    return `${provider}: ${state}, for ${agents.join(', ') || 'no agent'}`;
  });
}

export interface LoginKeeper {
  /** What goes beside a message to this agent; null when nobody logged in for it. */
  headersFor(agentId: string): { readonly Authorization: string } | null;
  /** Renews what is due; to be called before the first message. */
  renew(): Promise<void>;
  close(): void;
}

export function openLogins(path: string, first: Logins, note: (text: string) => void): LoginKeeper {
  let logins = first;
  let renewing: Promise<void> | null = null;

  const isDue = ({ expiresAt, refreshToken }: Login): boolean =>
    refreshToken !== null && expiresAt !== null && expiresAt - Date.now() < EARLY_MS;

  async function renewAll(): Promise<void> {
    if (![...logins.values()].some(isDue)) return;
    // Another launcher of the pool may have renewed it, and a refresh token is good once.
    logins = await readLogins(path);
    for (const [provider, old] of logins) {
      if (!isDue(old)) continue;
      try {
        const fresh = await refresh(old, old.refreshToken as string);
        const kept = { ...old, ...fresh, refreshToken: fresh.refreshToken ?? old.refreshToken };
        logins = new Map([...logins, [provider, kept]]);
        await writeLogins(path, logins);
      } catch (error) {
        note(
          `the login at ${provider} was not renewed: ${messageOfError(error)}; run --login ${provider}`,
        );
      }
    }
  }

  function renew(): Promise<void> {
    renewing ??= renewAll()
      .catch((error: unknown) => note(`logins: ${messageOfError(error)}`))
      .finally(() => {
        renewing = null;
      });
    return renewing;
  }
  const timer = setInterval(() => void renew(), LOOK_EVERY_MS);
  timer.unref();

  return {
    headersFor(agentId) {
      for (const { agents, accessToken, expiresAt } of logins.values()) {
        const isGood = expiresAt === null || expiresAt > Date.now();
        if (isGood && agents.includes(agentId)) return { Authorization: `Bearer ${accessToken}` };
      }
      return null;
    },
    renew,
    close: () => clearInterval(timer),
  };
}
