/** What a task or a step stands at, as a small mark: told apart by shape, and by its word for those who do not see it. */
import type { ReactNode } from 'react';
import { stateText, type TaskState } from './task-state.ts';

const SHAPES: Readonly<Record<TaskState, ReactNode>> = {
  'needs a person': <path d="M6 2.2v4.6M6 9.4v.2" />,
  in_progress: (
    <>
      <circle cx="6" cy="6" r="4.2" />
      <path d="M6 1.8a4.2 4.2 0 0 1 0 8.4z" fill="currentColor" stroke="none" />
    </>
  ),
  ready: <circle cx="6" cy="6" r="4.2" />,
  blocked: <path d="M2.6 6h6.8" />,
  open: <circle cx="6" cy="6" r="4.2" strokeDasharray="1.6 2" />,
  done: <path d="M2.4 6.4 5 9l4.6-5.6" />,
  cancelled: <path d="m3.2 3.2 5.6 5.6M8.8 3.2 3.2 8.8" />,
};

interface MarkProps {
  readonly state: TaskState;
  /** Where it is called otherwise. */
  readonly word?: string;
}

export function Mark({ state, word }: MarkProps): ReactNode {
  return (
    <span className={`mark mark-${state.replace(/\W.*/, '')}`}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        {SHAPES[state]}
      </svg>
      <span className="unseen">{word ?? stateText(state)}: </span>
    </span>
  );
}
