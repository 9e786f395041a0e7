/** The room Talk. */
import type { ReactNode } from 'react';
import { RoomHead } from '../../parts/room-head.tsx';

export function TalkRoom(): ReactNode {
  return <RoomHead title="Talk" />;
}
