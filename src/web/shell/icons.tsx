/** One small drawing for each room, in the colour of the text beside it. */
import type { ReactNode } from 'react';
import type { Room } from '../store/route.ts';

const PATHS: Readonly<Record<Room, string>> = {
  needs: 'M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5H6l.8 1.5h2.4l.8-1.5h3.5',
  talk: 'M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z',
  work: 'M3 2.5h4v4H3zM9 9.5h4v4H9zM5 6.5v5h4M7 4.5h6',
  agents: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.4-2.6 2.3-4 5-4s4.6 1.4 5 4',
  record: 'M4 2.5h8v11H4zM6.5 5.5h3M6.5 8h3M6.5 10.5h2',
  health: 'M1.5 8.5h3l1.5-4.5 3 8.5 1.8-4h3.7',
};

export function Icon({ of }: { readonly of: Room }): ReactNode {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.3"
      strokeLinejoin="round"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d={PATHS[of]} />
    </svg>
  );
}
