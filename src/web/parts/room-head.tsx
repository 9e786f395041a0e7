/** The first line of a room: its name, and at the other end what belongs to all of it. */
import type { ReactNode } from 'react';

interface RoomHeadProps {
  readonly title: string;
  readonly children?: ReactNode;
}

export function RoomHead({ title, children }: RoomHeadProps): ReactNode {
  return (
    <header className="room-head">
      <h1>{title}</h1>
      {children}
    </header>
  );
}
