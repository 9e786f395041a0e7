/** Why no prompt was packed. Nothing is left out silently: what cannot be done as asked is an error. */

/**
 * Why a prompt could not be packed, in a word.
 *
 * @example
 * ```ts
 * const isTooSmall = (code: PromptErrorCode): boolean => code === 'prompt.budget';
 * ```
 */
export type PromptErrorCode =
  /** A part or an option that cannot be meant. */
  | 'prompt.invalid'
  /** The budget is below what the parts want at least: `wants` says who wants what. */
  | 'prompt.budget'
  /** A file that no guard reads, or that is no text. */
  | 'prompt.file'
  /** The tokenizer threw, or said no number. */
  | 'prompt.tokenizer';

/**
 * What is said of a `PromptError` beside its message.
 *
 * @example
 * ```ts
 * const why: PromptErrorOptions = {
 *   code: 'prompt.budget',
 *   wants: [{ label: 'rules', tokens: 400 }],
 * };
 * ```
 */
export interface PromptErrorOptions {
  readonly code: PromptErrorCode;
  readonly wants?: readonly WantedTokens[];
  readonly cause?: unknown;
}

/**
 * How many tokens a part wants at least.
 *
 * @example
 * ```ts
 * const line = ({ label, tokens }: WantedTokens): string => `${label} wants ${tokens} tokens`;
 * ```
 */
export interface WantedTokens {
  readonly label: string;
  readonly tokens: number;
}

/**
 * What `packPrompt` throws.
 *
 * @example
 * ```ts
 * try {
 *   await packPrompt({ budget: 100, tokenizer, parts });
 * } catch (error) {
 *   if (error instanceof PromptError && error.code === 'prompt.budget') console.error(error.wants);
 * }
 * ```
 */
export class PromptError extends Error {
  readonly code: PromptErrorCode;
  readonly wants: readonly WantedTokens[];

  constructor(message: string, how: PromptErrorOptions) {
    super(message, how.cause === undefined ? {} : { cause: how.cause });
    this.name = 'PromptError';
    this.code = how.code;
    this.wants = how.wants ?? [];
  }
}
