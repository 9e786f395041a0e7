/** What is known of the record of a space, as the machine that keeps it tells the desk. */

export interface RecordView {
  readonly length: number;
  readonly head: string;
  /** The newest signed head; null before there is one. */
  readonly signed: HeadView | null;
  /** The newest that was put elsewhere, as far as is known here, and by which ways. */
  readonly anchor: (HeadView & { readonly way: string }) | null;
  /** What the last walk over the whole chain said; null before there was one. */
  readonly verification: Verification | null;
}

export interface HeadView {
  readonly position: number;
  readonly head: string;
  /** ISO 8601. */
  readonly at: string;
  readonly key: string;
}

export interface Verification {
  readonly at: number;
  readonly ok: boolean;
  /** How many entries are sound. */
  readonly through: number;
  readonly reason: string | null;
}
