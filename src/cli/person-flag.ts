/** `--person`, of commands by which a person may do more than an agent. */
export const PERSON_FLAG = ['--person', 'you are a person, and no agent'] as const;

export interface PersonFlags {
  readonly person?: boolean;
}
