/** One line of the docket, and what is below it: what it is about, and what a person can do. */
import type { ReactNode } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { GateSubject } from './gate-subject.tsx';
import { type Item, type Subject, subjectText, VERBS } from './kinds.ts';
import { OtherSubject } from './other-subject.tsx';
import type { Decide } from './use-decide.ts';

interface DocketItemProps {
  readonly item: Item;
  readonly me: string | undefined;
  readonly isOpen: boolean;
  readonly decide: Decide;
  onToggle(): void;
}

const SUBJECTS_SHOWN = 3;

export function DocketItem({ item, me, isOpen, decide, onToggle }: DocketItemProps): ReactNode {
  const { subjects, subjects_open: open, kinds, agent_id: agent } = item;
  const [first] = subjects;
  const verb = VERBS[first?.kind ?? kinds[0] ?? 'alert'];
  // What an agent asks within a minute stands on one item; each of it is decided by itself.
  const shown = isOpen ? subjects : subjects.slice(0, SUBJECTS_SHOWN);
  return (
    <li className={isOpen ? 'item item-open' : 'item'} data-item={item.item_id}>
      <button
        type="button"
        className="item-line"
        data-row
        aria-expanded={isOpen}
        onClick={onToggle}
      >
        <span className="item-verb">{verb}</span>
        <span className="item-text">
          <Name of={agent} /> <Words text={first === undefined ? item.text : sentence(first)} />
        </span>
        <span className="item-age quiet">
          <Ago at={item.since} />
        </span>
      </button>
      <div className="item-below">
        {shown.map((subject) => (
          <div key={`${subject.kind} ${subject.subject}`} className="subject">
            {subject !== first && (
              <p className="item-text">
                <Name of={agent} /> <Words text={sentence(subject)} />
              </p>
            )}
            {subject.kind === 'gate' ? (
              <GateSubject {...{ subject, isOpen, decide }} />
            ) : (
              <OtherSubject {...{ item, subject, isOpen, decide }} />
            )}
          </div>
        ))}
        <Taken item={item} me={me} isOpen={isOpen} decide={decide} />
        {open > shown.length && (
          <button type="button" className="link" onClick={onToggle}>
            {isOpen
              ? `and ${open - shown.length} more; they come up as these are decided`
              : `and ${open - shown.length} more`}
          </button>
        )}
      </div>
    </li>
  );
}

function sentence(subject: Subject): string {
  const text = subjectText(subject);
  if (subject.kind === 'question') return `asks: ${text}`;
  return subject.kind === 'gate' ? `wants to ${text}` : text;
}

type TakenProps = Pick<DocketItemProps, 'item' | 'me' | 'isOpen' | 'decide'>;

/** Who sees to it; anybody may take it over, knowing from whom. */
function Taken({ item, me, isOpen, decide }: TakenProps): ReactNode {
  const { taken } = item;
  if (taken === null) {
    return (
      isOpen && (
        <p className="short">
          <Button data-press="t" onClick={() => void decide.take(item, false)}>
            Take it: I see to this
          </Button>
        </p>
      )
    );
  }
  const isMine = taken.by === me;
  return (
    <p className="short quiet">
      <span>
        taken by {isMine ? 'you' : <Name of={taken.by} />}, <Ago at={taken.at} />
      </span>
      {!isMine && (
        <button type="button" className="link" onClick={() => void decide.take(item, true)}>
          take it over
        </button>
      )}
    </p>
  );
}
