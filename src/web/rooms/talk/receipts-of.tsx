/** What became of a message of one's own, for each of its readers: in a few words, and by name when asked for. */
import { type ReactNode, useState } from 'react';
import type { CallOutput } from '../../../client/index.ts';
import { Ago } from '../../parts/ago.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { useAsk } from '../../store/use-store.ts';

type Receipt = CallOutput<'receipts.get'>['receipts'][number];
type State = Receipt['state'];

/** In the order of a message's life; the unusual ends last. */
const WORDS: Readonly<Record<State, string>> = {
  accepted: 'owed',
  presented: 'shown',
  consumed: 'read',
  acted: 'acted on',
  held: 'held for a person',
  refused: 'refused',
  expired: 'expired',
  dead: 'given up',
};
const STATES = Object.keys(WORDS) as State[];

/** The noun of one message's receipts: the stream of receipts names it. */
export function receiptNoun(messageId: string): string {
  return `receipts of ${messageId}`;
}

interface ReceiptsOfProps {
  readonly messageId: string;
  readonly me: string;
}

export function ReceiptsOf({ messageId, me }: ReceiptsOfProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { value } = useAsk('receipts.get', { message_id: messageId }, [receiptNoun(messageId)]);
  if (value === undefined) return null;
  const others = value.receipts.filter(({ agent_id }) => agent_id !== me);
  return (
    <>
      <button
        type="button"
        className="receipts quiet"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {inShort(others)}
      </button>
      {isOpen && (
        <ul className="receipt-list" aria-label="Receipts">
          {others.length === 0 && <li className="quiet">Nobody else follows this channel.</li>}
          {others.map(({ agent_id, state, reason, at }) => (
            <li key={agent_id}>
              <Name of={agent_id} /> {WORDS[state]}
              {reason !== null && (
                <>
                  : <Words text={reason} />
                </>
              )}{' '}
              <span className="quiet">{at !== null && <Ago at={at} />}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** `2 read, 1 owed`. */
function inShort(receipts: readonly Receipt[]): string {
  if (receipts.length === 0) return 'no readers';
  const counts = Map.groupBy(receipts, ({ state }) => state);
  return STATES.toReversed()
    .flatMap((state) => {
      const some = counts.get(state);
      return some === undefined ? [] : [`${some.length} ${WORDS[state]}`];
    })
    .join(', ');
}
