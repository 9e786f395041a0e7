/**
 * Logins that were made, kept fresh while the launcher runs. A token goes only to agents that were named
 * for it, in the `Authorization` of `headers` beside their messages, as the reference gives it; none is
 * ever printed. An agent that wants a login nobody made has one made for it, where that is asked for.
 */
import type { Login, Logins, LoginsFile } from './logins-file.ts';
import { login, refresh } from './oauth-login.ts';
import { PROVIDERS, readProvider } from './oauth-provider.ts';
import { messageOfError } from './program-error.ts';

/** So long before its end a token is renewed. */
const EARLY_MS = 300_000;
const LOOK_EVERY_MS = 60_000;
/** After a login that nobody finished: until then no other page is opened. */
const AGAIN_AFTER_MS = 60_000;

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

export interface LoginRequest {
  readonly provider: string;
  /** Agents that get the token, beside those known to take it. */
  readonly agents: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly open: (url: string) => void;
}

/** Has a person log in and keeps the token; answers all logins there are now. */
export async function makeLogin(file: LoginsFile, asked: LoginRequest): Promise<Logins> {
  const { provider: id, env, open } = asked;
  const provider = await readProvider(id, env);
  // A file that cannot be read is said before somebody logs in for nothing.
  await file.read();
  const tokens = await login(provider, open);
  const before = await file.read();
  const named = [...(PROVIDERS[id] ?? []), ...(before.get(id)?.agents ?? []), ...asked.agents];
  const { tokenUrl, clientId, clientSecret } = provider;
  const entry = { ...tokens, tokenUrl, clientId, clientSecret, agents: [...new Set(named)] };
  const logins = new Map([...before, [id, entry]]);
  await file.write(logins);
  return logins;
}

export interface LoginKeeper {
  /** What goes beside a message to this agent; null when nobody logged in for it. */
  headersFor(agentId: string): { readonly Authorization: string } | null;
  /** Renews what is due; to be called before the first message. */
  renew(): Promise<void>;
  /** Shows a person the page for this agent; null where none is to be shown. Fails with the reason. */
  logIn(agentId: string): Promise<void> | null;
  close(): void;
}

/** `auto`: how to show a page when an agent wants a login; null where that was not asked for. */
export function openLogins(
  file: LoginsFile,
  first: Logins,
  auto: Pick<LoginRequest, 'env' | 'open'> | null,
  note: (text: string) => void,
): LoginKeeper {
  let logins = first;
  let renewing: Promise<void> | null = null;
  const underWay = new Map<string, Promise<void>>();
  const failedAt = new Map<string, number>();

  const isDue = ({ expiresAt, refreshToken }: Login): boolean =>
    refreshToken !== null && expiresAt !== null && expiresAt - Date.now() < EARLY_MS;

  async function renewAll(): Promise<void> {
    if (![...logins.values()].some(isDue)) return;
    // Another launcher of the pool may have renewed it, and a refresh token is good once.
    logins = await file.read();
    for (const [provider, old] of logins) {
      if (!isDue(old)) continue;
      try {
        const fresh = await refresh(old, old.refreshToken as string);
        const kept = { ...old, ...fresh, refreshToken: fresh.refreshToken ?? old.refreshToken };
        logins = new Map([...logins, [provider, kept]]);
        await file.write(logins);
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

  /** The list of the box, or a login of before: never what the agent says of itself. */
  function providerFor(agentId: string): string | null {
    const isNamed = (agents: readonly string[]): boolean => agents.includes(agentId);
    const before = [...logins].find(([, { agents }]) => isNamed(agents));
    const known = Object.entries(PROVIDERS).find(([, agents]) => isNamed(agents));
    return before?.[0] ?? known?.[0] ?? null;
  }

  async function logInAt(provider: string, shown: Pick<LoginRequest, 'env' | 'open'>) {
    try {
      note(await file.trySeal());
      logins = await makeLogin(file, { provider, agents: [], ...shown });
    } catch (error) {
      failedAt.set(provider, Date.now());
      throw error;
    } finally {
      underWay.delete(provider);
    }
  }

  return {
    headersFor(agentId) {
      for (const { agents, accessToken, expiresAt } of logins.values()) {
        const isGood = expiresAt === null || expiresAt > Date.now();
        if (isGood && agents.includes(agentId)) return { Authorization: `Bearer ${accessToken}` };
      }
      return null;
    },
    renew,
    logIn(agentId) {
      const provider = auto === null ? null : providerFor(agentId);
      if (auto === null || provider === null) return null;
      const begun = underWay.get(provider);
      if (begun !== undefined) return begun;
      if (Date.now() - (failedAt.get(provider) ?? 0) < AGAIN_AFTER_MS) return null;
      const shown = logInAt(provider, auto);
      underWay.set(provider, shown);
      return shown;
    },
    close: () => clearInterval(timer),
  };
}
