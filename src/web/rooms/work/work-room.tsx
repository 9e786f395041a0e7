/** The room Work. */
import type { ReactNode } from 'react';
import { RoomHead } from '../../parts/room-head.tsx';

export function WorkRoom(): ReactNode {
  return <RoomHead title="Work" />;
}
