/** The way from room to room, with what waits in each. On a phone it is a bar at the bottom. */
import type { ReactNode } from 'react';
import { Count } from '../parts/count.tsx';
import { hrefOf, ROOMS, type Room, useRoute } from '../store/route.ts';
import { useAsk } from '../store/use-store.ts';
import { Icon } from './icons.tsx';
import { sheet } from './keys.ts';

const INBOX = ['messages', 'receipts'];

export const TITLES: Readonly<Record<Room, string>> = {
  needs: 'Needs you',
  talk: 'Talk',
  work: 'Work',
  agents: 'Agents',
  record: 'Record',
  health: 'Health',
};

export function Rail(): ReactNode {
  const { room } = useRoute();
  const { value: docket } = useAsk('docket.list', { limit: 100 }, ['docket']);
  const { value: inbox } = useAsk('inbox.peek', {}, INBOX);
  const waiting: Partial<Record<Room, ReactNode>> = {
    needs: <Count of={docket?.open ?? 0} what="wait for you" />,
    talk: <Count of={inbox?.owed ?? 0} what="unread" />,
  };
  return (
    <nav className="rail" aria-label="Rooms">
      <ul>
        {ROOMS.map((one) => (
          <li key={one}>
            <a href={hrefOf(one)} aria-current={one === room ? 'page' : undefined}>
              <Icon of={one} />
              <span className="rail-title">{TITLES[one]}</span>
              {waiting[one]}
            </a>
          </li>
        ))}
      </ul>
      <button type="button" className="rail-keys" onClick={() => sheet.set(true)}>
        <kbd>?</kbd> keys
      </button>
    </nav>
  );
}
