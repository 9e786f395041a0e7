/** What a prompt is packed of, and what comes of it. */
import type { Guard } from '../../guard/guard.ts';

/** How many tokens a text is, for the model that will read it. */
export type Tokenizer = (text: string) => number;

/** Who says a message of a prompt. */
export type PromptRole = 'system' | 'user' | 'assistant';

/** Whether what it says may instruct the model. What is untrusted is fenced, and shown as data. */
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

/** A part that is a text. */
export interface TextPart extends PartFields {
  readonly text: string;
  /** Of a trusted part `system`, unless it says; an untrusted one is the user's. */
  readonly role?: PromptRole;
}

/** Read through the guard. */
export interface FilePart extends PartFields {
  readonly file: string;
  readonly role?: PromptRole;
}

/** A part that is a history of items. */
export interface ItemsPart extends PartFields {
  readonly items: readonly PromptItem[];
}

/** A part that a prompt is packed of. */
export type PromptPart = TextPart | FilePart | ItemsPart;

/** An item of a session, as sessions hand them out. */
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

/** What a prompt is packed of, and into how much. */
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

/** A message of a packed prompt. */
export interface PromptMessage {
  readonly role: PromptRole;
  readonly content: string;
  /** The part it is of. */
  readonly label: string;
}

/** Messages within the budget, and what was done to get them there. */
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

/** A part that was left out, and why. */
export interface DroppedPart {
  readonly label: string;
  readonly why: 'budget' | 'duplicate' | 'empty';
  /** How long it was. */
  readonly characters: number;
  /** The part that says the same. */
  readonly of?: string;
}

/** A part of which not all is in the prompt. */
export interface TruncatedPart {
  readonly label: string;
  /** Characters, or items of a history. */
  readonly unit: 'characters' | 'items';
  readonly kept: number;
  readonly of: number;
}

/** What stood there is not told. */
export interface RedactedSecret {
  readonly label: string;
  /** Where it began, from 1: of the text as it is shown. */
  readonly line: number;
}
