/** One turn: why it began, what came of it, and what it says, as it says it. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { plainLine } from '../../../wire/plain-line.ts';
import { Clock, Since } from '../../parts/ago.tsx';
import { Aside } from '../../parts/aside.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Name, Prose, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { hrefOf } from '../../store/route.ts';
import { useAct, useAsk, useStore } from '../../store/use-store.ts';
import { mergeLines, type SaidLine } from './transcript.ts';
import { mayCancel, mayRetry, reasonText, type Turn, turnStateText } from './turn-text.ts';

export function TurnAside({ agent, id }: { agent: string; id: string }): ReactNode {
  const asked = useAsk('turns.get', { turn_id: id }, ['turns']);
  return (
    <Aside
      title={
        <>
          Turn <Code text={id} /> of <Name of={agent} />
        </>
      }
      label="A turn"
      back={hrefOf('agents', agent)}
    >
      <Shown asked={asked}>
        {(turn) => (
          <div className="turn-whole">
            <TurnFacts turn={turn} />
            <TurnActs turn={turn} />
            <Transcript id={id} kept={turn.output} isOver={turn.ended_at !== null} />
          </div>
        )}
      </Shown>
    </Aside>
  );
}

function TurnFacts({ turn }: { readonly turn: Turn }): ReactNode {
  const { cost, note, taken_at: taken, ended_at: ended, pid, retry_at: retry } = turn;
  const tokens = cost.tokens_in + cost.tokens_out;
  // The id alone: that is what one looks for elsewhere.
  const trace = turn.traceparent?.split('-')[1] ?? null;
  return (
    <Facts
      rows={[
        ['stands at', turnStateText(turn)],
        ['began by', <Words key="reason" text={reasonText(turn)} />],
        ['runner', <Words key="runner" text={turn.runner} />],
        ['due', <Since key="due" at={turn.due_at} />],
        ['ran', taken === null ? null : <Ran key="ran" {...{ taken, ended }} />],
        ['again at', retry === null ? null : <Clock key="retry" at={retry} />],
        ['process', pid === null ? null : String(pid)],
        ['sent', turn.sends === 0 ? null : `${turn.sends} messages`],
        [
          'cost',
          cost.usd === 0 && tokens === 0
            ? null
            : `$${cost.usd.toFixed(2)}, ${tokens.toLocaleString('en')} tokens`,
        ],
        ['trace', trace === null ? null : <Code key="trace" text={trace} />],
        ['note', note === null ? null : <Prose key="note" text={note} />],
      ]}
    />
  );
}

function Ran({ taken, ended }: { taken: number; ended: number | null }): ReactNode {
  if (ended !== null) return `${Math.max(0, Math.round(ended - taken))} s`;
  return (
    <>
      since <Clock at={taken} />
    </>
  );
}

function TurnActs({ turn }: { readonly turn: Turn }): ReactNode {
  const act = useAct();
  const isPast = useCell(useStore().past) !== null;
  const { turn_id } = turn;
  if (!mayCancel(turn) && !mayRetry(turn)) return null;
  return (
    <div className="acts">
      {mayRetry(turn) && (
        <Button isMain disabled={isPast} onClick={() => void act('turns.retry', { turn_id })}>
          Retry
        </Button>
      )}
      {mayCancel(turn) && (
        <Confirm
          act="Cancel the turn"
          title={`Cancel turn ${turn_id}?`}
          run={() => act('turns.cancel', { turn_id, reason: 'cancelled on the page' })}
        >
          <p>Its program is ended. Its messages stay in the inbox and begin no other turn.</p>
        </Confirm>
      )}
    </div>
  );
}

interface TranscriptProps {
  readonly id: string;
  /** The last lines, as they were told. */
  readonly kept: readonly SaidLine[];
  readonly isOver: boolean;
}

function Transcript({ id, kept, isOver }: TranscriptProps): ReactNode {
  const said = useLiveLines(id, isOver);
  const lines = mergeLines(kept, said);
  const box = useRef<HTMLOListElement>(null);
  const count = lines.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines move the end.
  useEffect(() => {
    const list = box.current;
    if (list !== null && !isOver) list.scrollTop = list.scrollHeight;
  }, [count, isOver]);
  return (
    <section aria-label="Transcript" className="transcript">
      <h3>
        What it {isOver ? 'said' : 'says'} {!isOver && <span className="quiet">live</span>}
      </h3>
      {count === 0 && <p className="quiet">Nothing {isOver ? 'was' : 'yet'}.</p>}
      {count > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled with the keyboard too.
        <ol ref={box} className="lines" tabIndex={0} aria-label="Lines of the transcript">
          {lines.map((line, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end.
            <li key={i} className={`said-${line.from}`}>
              <code dir="auto">{plainLine(line.text, ' ')}</code>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** What the turn says while it is looked at. */
function useLiveLines(id: string, isOver: boolean): readonly SaidLine[] {
  const { client, past, complain } = useStore();
  const position = useCell(past);
  const [said, setSaid] = useState<readonly SaidLine[]>([]);
  useEffect(() => {
    setSaid([]);
    if (isOver || position !== null) return;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const output of client.turnOutput({ signal: stop.signal })) {
        if (output.turn_id === id) setSaid((known) => mergeLines(known, output.lines));
      }
    };
    follow().catch(complain);
    return () => stop.abort();
  }, [id, isOver, position, client, complain]);
  return said;
}
