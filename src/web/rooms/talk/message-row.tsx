/** One message: who, when, what; what it answers; what became of it; and the way to its thread. */
import { memo, type ReactNode, useState } from 'react';
import { channelLabel } from '../../../client/names.ts';
import { Clock, dayText } from '../../parts/ago.tsx';
import { BodyText, lineOf } from '../../parts/body-text.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import type { Said } from '../../store/talk/channel-log.ts';
import { useAct } from '../../store/use-store.ts';
import { ReceiptsOf } from './receipts-of.tsx';
import type { Headline } from './threads.ts';

export interface MessageRowProps {
  readonly said: Said;
  /** The one above it. */
  readonly before?: Said | undefined;
  readonly me: string;
  /** What it answers, where that is at hand. */
  readonly answered?: Said | undefined;
  /** What its thread says of itself, when it is the root of one. */
  readonly headline?: Headline | undefined;
  /** In a thread every row is of it, and none leads there. */
  readonly isInThread?: boolean;
  onReply?(said: Said): void;
}

/** Said by the same within this time, a message needs no second heading. */
const TOGETHER_S = 300;

export const MessageRow: (props: MessageRowProps) => ReactNode = memo(Row);

function Row(props: MessageRowProps): ReactNode {
  const { said, before, me, headline, answered, isInThread = false, onReply } = props;
  const isNewDay = before === undefined || dayText(before.sent_at) !== dayText(said.sent_at);
  const isTogether =
    !isNewDay &&
    said.body.kind !== 'post' &&
    before.sender === said.sender &&
    before.actor === said.actor &&
    said.sent_at - before.sent_at < TOGETHER_S &&
    (isInThread || (said.reply_to ?? null) === null);
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
        {!isInThread && said.reply_to != null && <Answers said={said} answered={answered} />}
        <Whole said={said} />
        <p className="message-foot">
          {!isInThread && headline !== undefined && <ThreadLink headline={headline} />}
          {said.sender === me && <ReceiptsOf messageId={said.message_id} me={me} />}
        </p>
        <span className="message-acts">
          {onReply !== undefined && (
            <button type="button" className="link" data-press="r" onClick={() => onReply(said)}>
              Reply
            </button>
          )}
          {!isInThread && (
            <a data-press="o" href={hrefOf('talk', said.channel, said.message_id)}>
              Thread
            </a>
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
      <a href={hrefOf('talk', said.channel, said.message_id)}>
        answers{' '}
        {answered === undefined ? (
          said.reply_to
        ) : (
          <>
            <Name of={answered.sender} />: <Words text={lineOf(answered.body)} />
          </>
        )}
      </a>
    </p>
  );
}

/** The body, or as much as is held of it. */
function Whole({ said }: { readonly said: Said }): ReactNode {
  const act = useAct();
  const [whole, setWhole] = useState<Said['body'] | null>(null);
  if (said.dropped) return <p className="quiet">(too old: the body was dropped)</p>;
  const read = async (): Promise<void> => {
    const answer = await act('messages.get', { message_id: said.message_id });
    if (answer !== null) setWhole(answer.message.body);
  };
  return (
    <>
      <BodyText body={whole ?? said.body} />
      {said.isCut === true && whole === null && (
        <button type="button" className="link" onClick={() => void read()}>
          This is the beginning; read all of it
        </button>
      )}
    </>
  );
}

export function ThreadLink({ headline }: { readonly headline: Headline }): ReactNode {
  const { reply_count: count, channel, message_id } = headline;
  return (
    <a href={hrefOf('talk', channel, message_id)} className="thread-link">
      {count === 1 ? '1 reply' : `${count} replies`}
      <Chips of={headline} />
    </a>
  );
}

type Marked = Pick<Headline, 'state' | 'resolved' | 'pinned'>;

export function Chips({ of }: { readonly of: Marked }): ReactNode {
  return (
    <>
      {of.pinned && <span className="chip">pinned</span>}
      {of.resolved && <span className="chip">resolved</span>}
      {of.state === 'closed' && <span className="chip">closed</span>}
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
