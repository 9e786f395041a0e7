/** The room Agents. */
import type { ReactNode } from 'react';
import { RoomHead } from '../../parts/room-head.tsx';

export function AgentsRoom(): ReactNode {
  return <RoomHead title="Agents" />;
}
