/** What stands in a room's place while the first answer is on its way, or when there is none to be had. */
import type { ReactNode } from 'react';
import type { Asked } from '../store/asks.ts';
import { Empty } from './empty.tsx';
import { Words } from './words.tsx';

interface ShownProps<T> {
  readonly asked: Asked<T>;
  children(value: T): ReactNode;
}

/** Shows the answer; an old one dimmed, and a refusal in the hub's own words. */
export function Shown<T>({ asked, children }: ShownProps<T>): ReactNode {
  const { value, error, isOld } = asked;
  if (value !== undefined) return <div className={isOld ? 'old' : 'fresh'}>{children(value)}</div>;
  if (error === null) return <p className="waiting">Asking the hub…</p>;
  return (
    <Empty title="The hub did not show this">
      <Words text={error.message} />
    </Empty>
  );
}
