/** A thread beside the talk: root, replies in order, how it is marked and by whom, and a field to answer. */
import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Shown } from '../../parts/shown.tsx';
import { hrefOf } from '../../store/route.ts';
import type { Said } from '../../store/talk/channel-log.ts';
import { useAsk } from '../../store/use-store.ts';
import { Composer } from './composer.tsx';
import { MessageRow } from './message-row.tsx';
import { ThreadMarks } from './thread-marks.tsx';

interface ThreadViewProps {
  readonly channel: string;
  readonly messageId: string;
  readonly me: string;
}

const PAGE = 200;
const NOUNS = ['messages'];

export function ThreadView({ channel, messageId, me }: ThreadViewProps): ReactNode {
  const asked = useAsk('threads.get', { message_id: messageId, limit: PAGE }, NOUNS);
  const root = asked.value?.root ?? null;
  return (
    <aside className="thread" aria-label="Thread">
      <header className="talk-head">
        <h2 className="clip">Thread</h2>
        <a href={hrefOf('talk', channel)} data-close>
          Close
        </a>
      </header>
      <Shown asked={asked}>
        {(value) => (
          <div className="thread-rows" data-rows>
            <ThreadMarks answer={value} />
            {value.root !== null && <MessageRow said={saidIn(value.root)} me={me} isInThread />}
            <p className="thread-count quiet">
              {value.thread.reply_count === 1 ? '1 reply' : `${value.thread.reply_count} replies`}
            </p>
            <Replies replies={value.replies} after={value.root} me={me} />
            {value.next !== null && (
              <MoreReplies key={value.next} messageId={messageId} after={value.next} me={me} />
            )}
          </div>
        )}
      </Shown>
      {root !== null && asked.value?.thread.state === 'open' && (
        <Composer
          key={root.message_id}
          channel={channel}
          label="Reply to this thread"
          answers={saidIn(root)}
          hasPosts={false}
          types={[]}
          onAnswered={() => {}}
        />
      )}
    </aside>
  );
}

/** A page of a thread is a message, and may leave out a body that is too long for one. */
function saidIn(message: Said & { readonly cut?: true | undefined }): Said {
  return message.cut === true ? { ...message, isCut: true } : message;
}

interface RepliesProps {
  readonly replies: readonly Said[];
  /** What stands above the first. */
  readonly after: Said | null;
  readonly me: string;
}

function Replies({ replies, after, me }: RepliesProps): ReactNode {
  return replies.map((said, i) => (
    <MessageRow
      key={said.message_id}
      said={saidIn(said)}
      before={replies[i - 1] ?? after ?? undefined}
      me={me}
      isInThread
    />
  ));
}

interface MoreRepliesProps {
  readonly messageId: string;
  readonly after: string;
  readonly me: string;
}

/** The next page, when it is asked for. */
function MoreReplies({ messageId, after, me }: MoreRepliesProps): ReactNode {
  const [isWanted, setWanted] = useState(false);
  const input = { message_id: messageId, after, limit: PAGE };
  const { value } = useAsk('threads.get', isWanted ? input : null, NOUNS);
  if (!isWanted) {
    return (
      <p className="thread-more">
        <Button onClick={() => setWanted(true)}>More replies</Button>
      </p>
    );
  }
  if (value === undefined) return <p className="waiting">Asking the hub…</p>;
  return (
    <>
      <Replies replies={value.replies} after={null} me={me} />
      {value.next !== null && (
        <MoreReplies key={value.next} messageId={messageId} after={value.next} me={me} />
      )}
    </>
  );
}
