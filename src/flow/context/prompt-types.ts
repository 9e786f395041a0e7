/** What a prompt is packed of, and what comes of it. */
import type { Guard } from '../../guard/guard.ts';

/**
 * How many tokens a text is, for the model that will read it.
 *
 * @example
 * ```ts
 * const about: Tokenizer = (text) => Math.ceil(text.length / 4);
 * ```
 */
export type Tokenizer = (text: string) => number;

/**
 * Who says a message of a prompt.
 *
 * @example
 * ```ts
 * const isOurs = (role: PromptRole): boolean => role === 'system';
 * ```
 */
export type PromptRole = 'system' | 'user' | 'assistant';

/**
 * Whether what it says may instruct the model. What is untrusted is fenced, and shown as data.
 *
 * @example
 * ```ts
 * const trustOf = (isOurs: boolean): PromptTrust => (isOurs ? 'trusted' : 'untrusted');
 * ```
 */
export type PromptTrust = 'trusted' | 'untrusted';

interface PartFields {
  /** What reports and the fence call it; one of its own for each part. */
  readonly label: string;
  readonly trust: PromptTrust;
  /** The higher ones are given room first; 0 unless it says. */
  readonly priority?: number;
  /** Tokens it gets at least, or the whole of it; then it is never dropped. 0 unless it says. */
  readonly min?: number;
  /** Tokens it gets at most. */
  readonly max?: number;
  /** Which end goes when it is too long: `end`, unless it says. Of items the oldest go. */
  readonly cut?: 'end' | 'start' | 'middle';
}

/**
 * A part that is a text.
 *
 * @example
 * ```ts
 * const rules: TextPart = { label: 'rules', trust: 'trusted', priority: 9, text: 'Be brief.' };
 * ```
 */
export interface TextPart extends PartFields {
  readonly text: string;
  /** Of a trusted part `system`, unless it says; an untrusted one is the user's. */
  readonly role?: PromptRole;
}

/**
 * Read through the guard.
 *
 * @example
 * ```ts
 * const readme: FilePart = { label: 'readme', trust: 'untrusted', priority: 1, file: 'README.md' };
 * ```
 */
export interface FilePart extends PartFields {
  readonly file: string;
  readonly role?: PromptRole;
}

/**
 * A part that is a history of items.
 *
 * @example
 * ```ts
 * const history: ItemsPart = {
 *   ...{ label: 'history', trust: 'untrusted', priority: 2 },
 *   items: [{ kind: 'user', content: 'land it, please' }],
 * };
 * ```
 */
export interface ItemsPart extends PartFields {
  readonly items: readonly PromptItem[];
}

/**
 * A part that a prompt is packed of.
 *
 * @example
 * ```ts
 * const parts: PromptPart[] = [
 *   { label: 'rules', trust: 'trusted', priority: 9, text: 'Answer in one line.' },
 *   { label: 'notes', trust: 'untrusted', priority: 1, file: 'NOTES.md' },
 * ];
 * ```
 */
export type PromptPart = TextPart | FilePart | ItemsPart;

/**
 * An item of a session, as sessions hand them out.
 *
 * @example
 * ```ts
 * const asked: PromptItem = { kind: 'user', content: 'is it green?' };
 * ```
 */
export type PromptItem =
  | {
      readonly kind: 'user' | 'assistant' | 'note';
      readonly content: string | readonly unknown[];
    }
  | {
      readonly kind: 'tool_call';
      readonly call_id: string;
      readonly name: string;
      readonly arguments?: unknown;
    }
  | {
      readonly kind: 'tool_result';
      readonly call_id: string;
      readonly state?: 'ok' | 'error' | 'unknown';
      readonly output?: unknown;
    }
  | {
      readonly kind: 'handoff';
      readonly from: string;
      readonly to: string;
      readonly why: string;
      readonly input?: unknown;
    };

/**
 * What a prompt is packed of, and into how much.
 *
 * @example
 * ```ts
 * const wish: PackOptions = {
 *   ...{ budget: 8_000, tokenizer: (text) => Math.ceil(text.length / 4) },
 *   parts: [{ label: 'rules', trust: 'trusted', priority: 9, text: 'Answer in one line.' }],
 * };
 * ```
 */
export interface PackOptions {
  /** Tokens that the messages may have together. */
  readonly budget: number;
  readonly tokenizer: Tokenizer;
  readonly parts: readonly PromptPart[];
  /** `given` unless it says; `priority`: the highest first; or labels, and the others after them. */
  readonly order?: 'given' | 'priority' | readonly string[];
  /** Who reads files; without it a part that names one is an error. */
  readonly guard?: Pick<Guard, 'readFile'>;
  /** Bytes of one file; 1 MiB unless it says. */
  readonly fileBytes?: number;
  /** Words that must not be in the prompt, besides what looks like a credential. */
  readonly secrets?: readonly string[];
  /** Tokens that a model counts around each message, and around all: 4 and 3 unless it says. */
  readonly overhead?: { readonly message: number; readonly prompt: number };
}

/**
 * A message of a packed prompt.
 *
 * @example
 * ```ts
 * const toModel = ({ role, content }: PromptMessage) => ({ role, content });
 * ```
 */
export interface PromptMessage {
  readonly role: PromptRole;
  readonly content: string;
  /** The part it is of. */
  readonly label: string;
}

/**
 * Messages within the budget, and what was done to get them there.
 *
 * @example
 * ```ts
 * const isWhole = ({ dropped, truncated }: PackedPrompt): boolean =>
 *   dropped.length === 0 && truncated.length === 0;
 * ```
 */
export interface PackedPrompt {
  readonly messages: readonly PromptMessage[];
  /** Tokens, what is counted around messages included; never above the budget. */
  readonly used: number;
  readonly dropped: readonly DroppedPart[];
  readonly truncated: readonly TruncatedPart[];
  readonly redacted: readonly RedactedSecret[];
  /** SHA-256 of the messages: the same parts always make the same prompt. */
  readonly hash: string;
}

/**
 * A part that was left out, and why.
 *
 * @example
 * ```ts
 * const line = ({ label, why }: DroppedPart): string => `${label} was left out: ${why}`;
 * ```
 */
export interface DroppedPart {
  readonly label: string;
  readonly why: 'budget' | 'duplicate' | 'empty';
  /** How long it was. */
  readonly characters: number;
  /** The part that says the same. */
  readonly of?: string;
}

/**
 * A part of which not all is in the prompt.
 *
 * @example
 * ```ts
 * const line = ({ label, kept, of, unit }: TruncatedPart): string =>
 *   `${label}: ${kept} of ${of} ${unit}`;
 * ```
 */
export interface TruncatedPart {
  readonly label: string;
  /** Characters, or items of a history. */
  readonly unit: 'characters' | 'items';
  readonly kept: number;
  readonly of: number;
}

/**
 * What stood there is not told.
 *
 * @example
 * ```ts
 * const line = ({ label, line: at }: RedactedSecret): string => `a secret in ${label}, line ${at}`;
 * ```
 */
export interface RedactedSecret {
  readonly label: string;
  /** Where it began, from 1: of the text as it is shown. */
  readonly line: number;
}
