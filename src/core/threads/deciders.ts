/** Who decides each command of threads and descriptions. */
import { decideDescribe } from './describe.ts';
import { decideMark } from './mark.ts';

export interface ThreadDeciders {
  'channel.describe': typeof decideDescribe;
  'thread.mark': typeof decideMark;
}

export const THREAD_DECIDERS: ThreadDeciders = {
  'channel.describe': decideDescribe,
  'thread.mark': decideMark,
};
