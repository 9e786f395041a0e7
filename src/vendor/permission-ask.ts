/** What a program of a vendor asks of a person, in our words: the action, on what, and the arguments in full. */
export interface PermissionAsk {
  /** In a word or two: the name of a tool. */
  readonly action: string;
  /** So that a person can decide: the command line, the file. */
  readonly subject: string;
  /** The approval holds for these arguments and no others. */
  readonly payload: unknown;
}
