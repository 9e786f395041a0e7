/**
 * Principals: who is asking, as authenticated by the server. A message never
 * says who sent it; the principal on the command does [I1].
 */
import { isName, NAME_ALPHABET } from './text.ts';

export type PrincipalKind = 'agent' | 'human' | 'observer' | 'admin';

/** How far a principal is trusted; an `untrusted` sender's messages are held for review [R6]. */
export type TrustTier = 'owner' | 'trusted' | 'standard' | 'untrusted';

export interface Principal {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly tier: TrustTier;
  /** It came by a door with one secret for all: the name is its own, and of that door alone [I13]. */
  readonly isVouched?: true;
  /** The run of a turn that it acts for, and with which it ends [TN7]. */
  readonly turn?: { readonly id: string; readonly epoch: number };
}

/** What is remembered of a principal with what it said; its name may mean another one day. */
export type Standing = `${PrincipalKind}/${TrustTier}`;

type Standings = Readonly<Record<TrustTier, Standing>>;

/** Made once: a standing is stored with every message. */
const STANDINGS: Readonly<Record<PrincipalKind, Standings>> = {
  agent: standingsOf('agent'),
  human: standingsOf('human'),
  observer: standingsOf('observer'),
  admin: standingsOf('admin'),
};

function standingsOf(kind: PrincipalKind): Standings {
  return {
    owner: `${kind}/owner`,
    trusted: `${kind}/trusted`,
    standard: `${kind}/standard`,
    untrusted: `${kind}/untrusted`,
  };
}

/** Each by itself, for those who read it as text. */
export const STANDINGS_BY_NAME: ReadonlyMap<string, Standing> = new Map(
  Object.values(STANDINGS).flatMap((tiers) =>
    Object.values(tiers).map((standing) => [standing, standing]),
  ),
);

export function standingOf({ kind, tier }: Principal): Standing {
  return STANDINGS[kind][tier];
}

const WORDS: ReadonlyMap<string, string> = new Map(
  [...Object.keys(STANDINGS), ...Object.keys(STANDINGS.agent)].map((word) => [word, word]),
);

/**
 * One that came from elsewhere, in the words that this program has. A copy of a word finds what the word does, but code that
 * was made fast for the word is thrown away when it meets the copy, and made again, for each that comes.
 */
export function inOwnWords(principal: Principal): Principal {
  const { kind, tier } = principal;
  return {
    ...principal,
    kind: (WORDS.get(kind) ?? kind) as PrincipalKind,
    tier: (WORDS.get(tier) ?? tier) as TrustTier,
  };
}

/** The hub itself, when it speaks on `sox/…` channels or lets a deadline pass. */
export const SERVER: Principal = { id: '__server__', kind: 'admin', tier: 'owner' };

export const AGENT_NAME_CHARS_MAX = 128;

/**
 * An agent's name: nothing that parts the two names of a dm or that a glob would read as a pattern,
 * and not `__…`, which the hub keeps for itself [I2].
 */
export function isAgentName(name: string): boolean {
  return isName(name, AGENT_NAME_CHARS_MAX) && !name.startsWith('__');
}

export const AGENT_NAME_RULE: string = `an agent's name has 1 to ${AGENT_NAME_CHARS_MAX} characters, ${NAME_ALPHABET}, and does not begin with __`;
