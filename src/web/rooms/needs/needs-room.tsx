/** The room Needs you: what waits for a person, the longest first; below it, what everybody is doing now. */
import { type ReactNode, useEffect, useState } from 'react';
import { Empty } from '../../parts/empty.tsx';
import { RoomHead } from '../../parts/room-head.tsx';
import { Shown } from '../../parts/shown.tsx';
import { type Key, useKeys } from '../../shell/keys.ts';
import { useAsk, useStore } from '../../store/use-store.ts';
import { DocketItem } from './docket-item.tsx';
import { EverybodyNow } from './everybody-now.tsx';
import type { Item } from './kinds.ts';
import { ProofDialog, ProofHeld } from './proof-dialog.tsx';
import { useDecide } from './use-decide.ts';
import './needs.css';

const KEYS: readonly Key[] = [
  { key: 'a', does: 'approve, answer, release or resume', run: () => press('a') },
  { key: 'd', does: 'deny or refuse', run: () => press('d') },
  { key: 't', does: 'take the item', run: () => press('t') },
  { key: 'c', does: 'close or dismiss it', run: () => press('c') },
];

/** Of the item that has the focus, and of no other: a key must not decide what nobody looks at. */
function press(what: string): void {
  const item = document.activeElement?.closest('[data-item]');
  item?.querySelector<HTMLElement>(`[data-press="${what}"]`)?.click();
}

export function NeedsRoom(): ReactNode {
  const docket = useAsk('docket.list', { limit: 100 }, ['docket']);
  const { value: me } = useAsk('hub.whoami', {}, []);
  const [openId, setOpen] = useState<string | null>(null);
  const decide = useDecide();
  useKeys(KEYS);
  useEndedElsewhere(openId, docket.value?.items, () => setOpen(null));
  return (
    <>
      <RoomHead title="Needs you">
        <ProofHeld />
      </RoomHead>
      <Shown asked={docket}>
        {({ items, open }) => (
          <>
            {items.length === 0 && (
              <Empty title="Nothing waits for you">
                What an agent may not decide alone stands here: gates, questions, held messages.
              </Empty>
            )}
            <ul className="docket" data-rows aria-label="What waits for you">
              {items.map((item) => (
                <DocketItem
                  key={item.item_id}
                  item={item}
                  me={me?.agent_id}
                  isOpen={item.item_id === openId}
                  decide={decide}
                  onToggle={() => setOpen(item.item_id === openId ? null : item.item_id)}
                />
              ))}
            </ul>
            {open > items.length && (
              <p className="quiet docket-more">
                and {open - items.length} more, which come up as these are seen to
              </p>
            )}
          </>
        )}
      </Shown>
      <EverybodyNow />
      <ProofDialog />
    </>
  );
}

/** The item somebody has open was decided by another person, or went on by itself: that is said. */
function useEndedElsewhere(
  openId: string | null,
  items: readonly Item[] | undefined,
  onEnd: () => void,
): void {
  const { ask, say, notice } = useStore();
  const isGone = openId !== null && items?.every(({ item_id }) => item_id !== openId) === true;
  useEffect(() => {
    if (!isGone || openId === null) return;
    onEnd();
    const before = notice.get();
    void ask('docket.get', { item_id: openId }).then(
      ({ item: { closed } }) => {
        // What was done here has been said already.
        if (closed === null || notice.get() !== before) return;
        const who = closed.by === null ? '' : ` by ${closed.by}`;
        say(`${openId} is closed: ${closed.outcome}${who}`);
      },
      () => {},
    );
  }, [isGone, openId, onEnd, ask, say, notice]);
}
