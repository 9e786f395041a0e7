/** The room Needs you: what waits for a person, then what everybody is doing. */
import type { ReactNode } from 'react';
import { Empty } from '../../parts/empty.tsx';
import { RoomHead } from '../../parts/room-head.tsx';
import { Shown } from '../../parts/shown.tsx';
import { useAsk } from '../../store/use-store.ts';

export function NeedsRoom(): ReactNode {
  const docket = useAsk('docket.list', { limit: 100 }, ['docket']);
  return (
    <>
      <RoomHead title="Needs you" />
      <Shown asked={docket}>
        {({ items }) => items.length === 0 && <Empty title="Nothing waits for you" />}
      </Shown>
    </>
  );
}
