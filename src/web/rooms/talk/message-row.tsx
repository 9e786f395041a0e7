/** One message: who, when, what; what it answers; and what became of it. */
import { memo, type ReactNode } from 'react';
import { channelLabel } from '../../../client/names.ts';
import { Clock, dayText } from '../../parts/ago.tsx';
import { BodyText, lineOf } from '../../parts/body-text.tsx';
import { Name, Words } from '../../parts/words.tsx';
import type { Said } from '../../store/talk/channel-log.ts';
import { ReceiptsOf } from './receipts-of.tsx';

export interface MessageRowProps {
  readonly said: Said;
  /** The one above it. */
  readonly before?: Said | undefined;
  readonly me: string;
  /** What it answers, where that is at hand. */
  readonly answered?: Said | undefined;
  onReply?(said: Said): void;
}

/** Said by the same within this time, a message needs no second heading. */
const TOGETHER_S = 300;

export const MessageRow: (props: MessageRowProps) => ReactNode = memo(Row);

function Row(props: MessageRowProps): ReactNode {
  const { said, before, me, answered, onReply } = props;
  const isNewDay = before === undefined || dayText(before.sent_at) !== dayText(said.sent_at);
  const isTogether =
    !isNewDay &&
    before.sender === said.sender &&
    before.actor === said.actor &&
    said.sent_at - before.sent_at < TOGETHER_S &&
    (said.reply_to ?? null) === null;
  return (
    <>
      {isNewDay && (
        <p className="day quiet">
          <span>{dayText(said.sent_at)}</span>
        </p>
      )}
      <article
        className={isTogether ? 'message message-together' : 'message'}
        data-row
        data-message={said.message_id}
        tabIndex={-1}
        aria-label={`${said.sender}, ${said.message_id}`}
      >
        {!isTogether && <Heading said={said} me={me} />}
        {said.reply_to != null && <Answers said={said} answered={answered} />}
        <Whole said={said} />
        <p className="message-foot">
          {said.sender === me && <ReceiptsOf messageId={said.message_id} me={me} />}
        </p>
        <span className="message-acts">
          {onReply !== undefined && (
            <button type="button" className="link" data-press="r" onClick={() => onReply(said)}>
              Reply
            </button>
          )}
          <code className="quiet">{said.message_id}</code>
        </span>
      </article>
    </>
  );
}

function Heading({ said, me }: { readonly said: Said; readonly me: string }): ReactNode {
  const { sender, actor, standing, sent_at: at } = said;
  return (
    <p className="message-head">
      <Name of={sender} />
      {sender === me && <span className="quiet">you</span>}
      {actor !== undefined && (
        <span className="quiet">
          about <Words text={actor} />
        </span>
      )}
      {standing?.endsWith('/untrusted') === true && <span className="chip">untrusted</span>}
      <span className="quiet message-time">
        <Clock at={at} />
      </span>
    </p>
  );
}

interface AnswersProps {
  readonly said: Said;
  readonly answered: Said | undefined;
}

/** What it answers is one step away; the thread shows both. */
function Answers({ said, answered }: AnswersProps): ReactNode {
  return (
    <p className="answers clip">
      <span>
        answers{' '}
        {answered === undefined ? (
          said.reply_to
        ) : (
          <>
            <Name of={answered.sender} />: <Words text={lineOf(answered.body)} />
          </>
        )}
      </span>
    </p>
  );
}

/** The body, or as much as is held of it. */
function Whole({ said }: { readonly said: Said }): ReactNode {
  if (said.dropped) return <p className="quiet">(too old: the body was dropped)</p>;
  return (
    <>
      <BodyText body={said.body} />
      {said.isCut === true && (
        <p className="quiet">
          This is the beginning of a long one: <code>synod replay</code> has all of it.
        </p>
      )}
    </>
  );
}

export function ChannelName({
  name,
  me,
}: {
  readonly name: string;
  readonly me: string;
}): ReactNode {
  return <Words text={channelLabel(name, me)} />;
}
