/** Everything on the docket that is no gate: a question, a held message, an agent that stopped, a session that waits at its own terminal. */
import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ReasonForm } from '../../parts/reason-form.tsx';
import { Prose } from '../../parts/words.tsx';
import { Held } from './gate-subject.tsx';
import type { Item, Subject } from './kinds.ts';
import type { Decide } from './use-decide.ts';

interface OtherSubjectProps {
  readonly item: Item;
  readonly subject: Subject;
  readonly isOpen: boolean;
  readonly decide: Decide;
}

export function OtherSubject(props: OtherSubjectProps): ReactNode {
  const { subject, isOpen } = props;
  return (
    <>
      {isOpen && subject.kind !== 'held' && (
        <blockquote className="quoted">
          <Prose text={subject.text} />
        </blockquote>
      )}
      {subject.kind === 'held' && <Held messageId={subject.subject} />}
      <Acts {...props} />
    </>
  );
}

function Acts({ item, subject, decide }: OtherSubjectProps): ReactNode {
  const [isTyping, setTyping] = useState(false);
  const cancel = (): void => setTyping(false);
  switch (subject.kind) {
    case 'question':
      return isTyping ? (
        <ReasonForm
          label={`Your answer; ${item.agent_id} is told.`}
          button="Answer"
          isNeeded
          onSay={(note) => decide.answer(item, subject, note)}
          onCancel={cancel}
        />
      ) : (
        <div className="acts">
          <Button isMain data-press="a" onClick={() => setTyping(true)}>
            Answer…
          </Button>
          <Button data-press="c" onClick={() => void decide.close(item, subject, 'dismissed')}>
            Dismiss
          </Button>
        </div>
      );
    case 'held':
      return isTyping ? (
        <ReasonForm
          label="Why not? (may be left empty)"
          button="Refuse"
          isNeeded={false}
          onSay={(reason) => decide.held(subject, 'refuse', reason === '' ? null : reason)}
          onCancel={cancel}
        />
      ) : (
        <div className="acts">
          <Button isMain data-press="a" onClick={() => void decide.held(subject, 'release', null)}>
            Release
          </Button>
          <Button data-press="d" onClick={() => setTyping(true)}>
            Refuse…
          </Button>
        </div>
      );
    case 'parked':
    case 'dead':
      return (
        <div className="acts">
          <Button isMain data-press="a" onClick={() => void decide.goOn(subject)}>
            {subject.kind === 'parked' ? 'Resume' : 'Retry'}
          </Button>
          <Button data-press="c" onClick={() => void decide.close(item, subject, 'done')}>
            Leave it
          </Button>
        </div>
      );
    case 'blocked':
      return (
        <p className="short quiet">
          Answer it where the session runs; it leaves this list when the session goes on.
        </p>
      );
    case 'alert':
      return (
        <div className="acts">
          <Button data-press="c" onClick={() => void decide.close(item, subject, 'done')}>
            Close
          </Button>
        </div>
      );
    case 'gate':
      return null;
  }
}
