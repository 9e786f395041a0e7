/** The room Health. */
import type { ReactNode } from 'react';
import { RoomHead } from '../../parts/room-head.tsx';

export function HealthRoom(): ReactNode {
  return <RoomHead title="Health" />;
}
