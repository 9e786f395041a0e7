/** How a thread stands and who said so; a person may mark it. Nothing is rewritten: every mark stays readable. */
import { type ReactNode, useState } from 'react';
import type { CallInput, CallOutput } from '../../../client/index.ts';
import { Ago } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { ReasonForm } from '../../parts/reason-form.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { useAct } from '../../store/use-store.ts';
import { Chips } from './message-row.tsx';

type Answer = CallOutput<'threads.get'>;
type Mark = CallInput<'threads.mark'>['mark'];

const DONE: Readonly<Record<Mark, string>> = {
  pin: 'pinned it',
  unpin: 'took the pin off',
  close: 'closed it',
  reopen: 'opened it again',
  resolve: 'resolved it',
  unresolve: 'said that it is not resolved',
};

export function ThreadMarks({ answer }: { readonly answer: Answer }): ReactNode {
  const { thread, marks } = answer;
  const act = useAct();
  const [isClosing, setClosing] = useState(false);
  const [isTold, setTold] = useState(false);
  const put = async (mark: Mark, note: string | null = null): Promise<boolean> => {
    const input = { message_id: thread.thread_id, mark, expected_version: thread.version };
    return (await act('threads.mark', { ...input, ...(note !== null && { note }) })) !== null;
  };
  return (
    <div className="marks">
      <p className="marks-line">
        <Chips of={thread} />
        <Button onClick={() => void put(thread.pinned ? 'unpin' : 'pin')}>
          {thread.pinned ? 'Unpin' : 'Pin'}
        </Button>
        <Button onClick={() => void put(thread.resolved ? 'unresolve' : 'resolve')}>
          {thread.resolved ? 'Not resolved' : 'Resolve'}
        </Button>
        {thread.state === 'open' ? (
          <Button onClick={() => setClosing(true)}>Close thread…</Button>
        ) : (
          <Button onClick={() => void put('reopen')}>Reopen</Button>
        )}
        {marks.length > 0 && (
          <button
            type="button"
            className="link"
            aria-expanded={isTold}
            onClick={() => setTold(!isTold)}
          >
            {thread.version === 1 ? '1 mark' : `${thread.version} marks`}
          </button>
        )}
      </p>
      {isClosing && (
        <ReasonForm
          label="Why is it closed? Whoever wants to reply reads this."
          button="Close thread"
          isNeeded
          onSay={(note) => put('close', note)}
          onCancel={() => setClosing(false)}
        />
      )}
      {thread.closed !== null && (
        <p className="closed">
          closed by <Name of={thread.closed.by} />, <Ago at={thread.closed.at} />
          {thread.closed.note !== null && (
            <>
              : <Words text={thread.closed.note} />
            </>
          )}
        </p>
      )}
      {isTold && (
        <ul className="quiet" aria-label="Marks, the newest first">
          {marks.map(({ version, mark, by, at, note }) => (
            <li key={version}>
              <Name of={by} /> {DONE[mark]}, <Ago at={at} />
              {note !== null && (
                <>
                  : <Words text={note} />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
