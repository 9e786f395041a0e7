/** What stands around every room: the top line, the rail, the room itself, the slider, and what was last said. */
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { Words } from '../parts/words.tsx';
import { NeedsRoom } from '../rooms/needs/needs-room.tsx';
import { useCell } from '../store/cell.ts';
import { type Room, useRoute } from '../store/route.ts';
import { useStore } from '../store/use-store.ts';
import { KeySheet } from './key-sheet.tsx';
import { listenToKeys } from './keys.ts';
import { Rail, TITLES } from './rail.tsx';
import { Slider } from './slider.tsx';
import { ThenBand } from './then-band.tsx';
import { TopLine } from './top-line.tsx';
import './frame.css';

/** The first room is there at once; the others are fetched when somebody goes there. */
const OPEN: Readonly<Record<Room, () => ReactNode>> = {
  needs: NeedsRoom,
  talk: later(async () => (await import('../rooms/talk/talk-room.tsx')).TalkRoom),
  work: later(async () => (await import('../rooms/work/work-room.tsx')).WorkRoom),
  agents: later(async () => (await import('../rooms/agents/agents-room.tsx')).AgentsRoom),
  record: later(async () => (await import('../rooms/record/record-room.tsx')).RecordRoom),
  health: later(async () => (await import('../rooms/health/health-room.tsx')).HealthRoom),
};

function later(load: () => Promise<() => ReactNode>): () => ReactNode {
  const Loaded = lazy(async () => ({ default: await load() }));
  return () => <Loaded />;
}

export function Frame(): ReactNode {
  const { room } = useRoute();
  const { link } = useStore();
  const { state, reason } = useCell(link);
  const Open = OPEN[room];
  useEffect(listenToKeys, []);
  useEffect(() => {
    document.title = `${TITLES[room]} · Synod`;
  }, [room]);
  return (
    <div className="frame">
      <TopLine />
      <ThenBand />
      <Rail />
      <main id="room" className="room" tabIndex={-1}>
        {state === 'closed' ? (
          <Ended reason={reason} />
        ) : (
          <Suspense fallback={<p className="waiting">Opening…</p>}>
            <Open />
          </Suspense>
        )}
      </main>
      <footer className="time">
        <Slider />
      </footer>
      <Said />
      <KeySheet />
    </div>
  );
}

/** The hub knows this page no longer. */
function Ended({ reason }: { readonly reason: string | null }): ReactNode {
  return (
    <>
      <h1 className="unseen">Synod</h1>
      <Empty title="This page is not let in (any more)" command="synod web">
        {reason !== null && <Words text={reason} />} A link is good once and for one minute; this
        command gives a new one.
      </Empty>
    </>
  );
}

/** What was done, or why it was not. */
function Said(): ReactNode {
  const { notice } = useStore();
  const said = useCell(notice);
  useEffect(() => {
    if (said === null || said.isProblem) return;
    const timer = setTimeout(() => notice.set(null), 6_000);
    return () => clearTimeout(timer);
  }, [said, notice]);
  return (
    <div className="said" role="status">
      {said !== null && (
        <p className={said.isProblem ? 'said-line broken' : 'said-line'}>
          <Words text={said.text} />
          <Button onClick={() => notice.set(null)}>Close</Button>
        </p>
      )}
    </div>
  );
}
