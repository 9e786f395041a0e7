/**
 * Who is behind a connection, in the words of the reference's `_ext.identity`. Only the bus may say
 * `bus`: what a client claims of itself travels on as `self`, whatever it wrote.
 */
export interface Identity {
  readonly subjectId: string;
  readonly role: string;
  readonly assertedBy: 'self' | 'bus';
}
