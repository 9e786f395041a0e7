/** Who decides each command of context. */
import { decideDelete, decideSet } from './context.ts';

export interface ContextDeciders {
  'context.set': typeof decideSet;
  'context.delete': typeof decideDelete;
}

export const CONTEXT_DECIDERS: ContextDeciders = {
  'context.set': decideSet,
  'context.delete': decideDelete,
};
