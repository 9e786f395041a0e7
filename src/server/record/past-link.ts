/** What the hub's thread and the one that looks back say to each other. */
import type { Refusal } from '../../core/law/decider.ts';
import type { MessageHead } from '../../hub/message-store.ts';
import type { PastAnswer, Span, SpanAsked } from '../desk/past.ts';
import type { PastQuestion } from './past.ts';

/** Which log: one that another thread can open, or one whose entries are asked for. */
export interface PastPlace {
  readonly space: string;
  readonly url: string | null;
}

export type ToPast =
  | { readonly ask: PastPlace & ({ readonly at: PastQuestion } | { readonly span: SpanOfLog }) }
  | { readonly callOff: true }
  | { readonly shown: readonly boolean[] }
  | { readonly entries: readonly string[] };

export interface SpanOfLog {
  readonly asked: SpanAsked;
  readonly length: number;
}

export type FromPast =
  | { readonly said: PastAnswer | Span | Refusal }
  | { readonly failed: { readonly message: string; readonly isStore: boolean } }
  | { readonly screen: readonly MessageHead[] }
  | { readonly read: { readonly from: number; readonly bytesMax: number } };
