/** What a rule worker is handed, and what it answers: the same that a vendor's agent is told and asked for. */

export interface Job {
  /** Where the product is made. */
  readonly dir: string;
  /** The body of the message that began the turn. */
  readonly asked: Readonly<Record<string, unknown>>;
  /** Asks the hub something, as the agent whose turn it is. */
  hub(operation: string, input: object): Promise<Record<string, unknown>>;
}

export interface Answer {
  /** False: it cannot be gone on with, and `text` says why. */
  readonly ok?: boolean;
  readonly text: string;
  readonly files?: readonly string[];
  readonly [fact: string]: unknown;
}

export type Craft = (job: Job) => Promise<Answer>;
