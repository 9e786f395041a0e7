/**
 * What the guard was asked and what it said: every decision names what was meant, why it was allowed or
 * refused, by which rule, and who holds anybody to it [PO2]. `advisory`: this program, where it asks.
 * `os`: the operating system, whatever the child does.
 */
import { HIDDEN, written } from '../core/law/hidden.ts';

/**
 * What may be done to a path.
 *
 * @example
 * ```ts
 * const request = (kind: PathKind): GuardRequest => ({ kind, path: '/srv/app/notes.md' });
 * ```
 */
export type PathKind = 'read' | 'write' | 'delete';

/**
 * A deed that a guard is asked about: a path, a program or an address.
 *
 * @example
 * ```ts
 * const request: GuardRequest = { kind: 'execute', program: 'git', args: ['log'] };
 * ```
 */
export type GuardRequest =
  | { readonly kind: PathKind; readonly path: string }
  | { readonly kind: 'execute'; readonly program: string; readonly args?: readonly string[] }
  | { readonly kind: 'connect'; readonly url: string; readonly method?: string };

/**
 * Why a deed is allowed or refused, in a word.
 *
 * @example
 * ```ts
 * const isForgotten = (code: GuardCode): boolean => code === 'guard.no-rule';
 * ```
 */
export type GuardCode =
  | 'guard.allowed'
  /** No rule of the policy covers it. */
  | 'guard.no-rule'
  /** A rule covers it, and `except` takes it out again. */
  | 'guard.except'
  /** What was asked cannot be read: an empty path, a host that is none. */
  | 'guard.invalid'
  /** The name stands for an address that the rule does not name. */
  | 'guard.address'
  /** The name stands for no address. */
  | 'guard.unresolved'
  /** The program lies where the policy lets somebody write. */
  | 'guard.writable-program'
  /** Between the decision and the deed something else was put there. */
  | 'guard.moved'
  /** No ordinary file, or one with a second name elsewhere. */
  | 'guard.not-a-file'
  | 'guard.too-large'
  /** Too many redirections, or one that cannot be followed. */
  | 'guard.redirect'
  /** A sandbox was asked for, and there is none on this machine. */
  | 'guard.no-sandbox'
  /** A rail said no, failed, or did not answer in time. */
  | 'guard.rail';

/**
 * Who holds a deed to its policy: this process by its word (`advisory`), or the operating system.
 *
 * @example
 * ```ts
 * const isHeld = (how: Enforcement): boolean => how === 'os';
 * ```
 */
export type Enforcement = 'advisory' | 'os';

/**
 * What a guard decided on a deed, and why.
 *
 * @example
 * ```ts
 * const line = ({ allowed, what, why }: GuardDecision): string =>
 *   `${allowed ? 'may' : 'may not'} ${what}: ${why}`;
 * ```
 */
export interface GuardDecision {
  readonly allowed: boolean;
  readonly kind: GuardRequest['kind'] | 'rail';
  /** The real path, the address as it was understood, the program with its arguments. */
  readonly what: string;
  readonly code: GuardCode;
  /** A sentence for people. */
  readonly why: string;
  /** The entry of the policy that allowed it; null when none did. */
  readonly rule: string | null;
  readonly enforcement: Enforcement;
  /** Which guard, by its name. */
  readonly guard: string;
  /** The real path of a file, or of the program: what to use. */
  readonly path?: string;
  /** What the host stands for: what to connect to. */
  readonly addresses?: readonly string[];
  /** Where the sandbox is narrower or wider than the policy, in sentences. */
  readonly gaps?: readonly string[];
}

/** What a part of the guard answers; the guard adds its name. */
export type Ruling = Omit<GuardDecision, 'guard'>;

/**
 * The guard said no, and nothing was done.
 *
 * @example
 * ```ts
 * try {
 *   await guard.writeFile('/etc/passwd', 'x');
 * } catch (error) {
 *   if (error instanceof GuardRefused) console.error(error.decision.why);
 * }
 * ```
 */
export class GuardRefused extends Error {
  override readonly name = 'GuardRefused';
  readonly code: GuardCode;
  readonly decision: GuardDecision;

  constructor(decision: GuardDecision, options?: ErrorOptions) {
    super(`${decision.kind} ${decision.what}: ${decision.why}`, options);
    this.code = decision.code;
    this.decision = decision;
  }
}

export function allow(
  kind: Ruling['kind'],
  what: string,
  rule: string,
  more: Partial<Ruling> = {},
): Ruling {
  const why = `allowed by ${rule}`;
  return {
    ...{ allowed: true, kind, what: shown(what), code: 'guard.allowed', why, rule },
    enforcement: 'advisory',
    ...more,
  };
}

export function deny(kind: Ruling['kind'], what: string, code: GuardCode, why: string): Ruling {
  return {
    ...{ allowed: false, kind, what: shown(what), code, why, rule: null },
    enforcement: 'advisory',
  };
}

const WHAT_CHARS_MAX = 1_024;

/** A path, a host or an argument is somebody's words: on one line, with nothing hidden, not without end. */
export function shown(text: string): string {
  const short = text.length > WHAT_CHARS_MAX ? `${text.slice(0, WHAT_CHARS_MAX)}…` : text;
  return short.replace(HIDDEN, written);
}
