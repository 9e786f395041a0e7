/** What was chosen in a room, beside it; on a narrow screen in its place. Escape goes back. */
import { type ReactNode, useMemo } from 'react';
import { useKeys } from '../shell/keys.ts';

interface AsideProps {
  readonly title: ReactNode;
  readonly label: string;
  /** Where the room stands without it. */
  readonly back: string;
  readonly children: ReactNode;
}

export function Aside({ title, label, back, children }: AsideProps): ReactNode {
  const keys = useMemo(
    () => [{ key: 'Escape', does: 'close what is open', run: () => location.assign(back) }],
    [back],
  );
  useKeys(keys);
  return (
    <aside className="aside" aria-label={label}>
      <header className="aside-head">
        <h2>{title}</h2>
        <a className="button" href={back}>
          Close
        </a>
      </header>
      {children}
    </aside>
  );
}
