/** A number of things that wait; nothing when there are none. */
import type { ReactNode } from 'react';

interface CountProps {
  readonly of: number;
  /** What they are, for those who do not see where it stands. */
  readonly what: string;
}

export function Count({ of, what }: CountProps): ReactNode {
  if (of === 0) return null;
  return (
    <span className="count">
      {of > 999 ? '999+' : of}
      <span className="unseen"> {what}</span>
    </span>
  );
}
