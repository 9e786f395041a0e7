/** The room Record. */
import type { ReactNode } from 'react';
import { RoomHead } from '../../parts/room-head.tsx';

export function RecordRoom(): ReactNode {
  return <RoomHead title="Record" />;
}
