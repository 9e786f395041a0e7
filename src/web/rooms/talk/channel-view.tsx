/** One channel: what is said, as it is said, however much there is of it; and a field to write. */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { channelLabel } from '../../../client/names.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { hrefOf } from '../../store/route.ts';
import type { Said } from '../../store/talk/channel-log.ts';
import { useTalk } from '../../store/talk/use-talk.ts';
import { useAct, useAsk, useStore } from '../../store/use-store.ts';
import { useChannel } from './channels.ts';
import { Composer } from './composer.tsx';
import { MessageRow } from './message-row.tsx';
import { useHeadlines } from './threads.ts';

interface ChannelViewProps {
  readonly channel: string;
  readonly me: string;
}

const ROW_PX = 48;
const keyOf = ({ message_id }: Said): string => message_id;

export function ChannelView({ channel, me }: ChannelViewProps): ReactNode {
  const { past } = useStore();
  const isNow = useCell(past) === null;
  const talk = useTalk(channel);
  const { said, isToEnd } = useCell(talk.log);
  const isRead = useCell(talk.isRead);
  const error = useCell(talk.error);
  const headlines = useHeadlines(channel);
  const [answers, setAnswers] = useState<Said | null>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const about = useChannel(channel);
  useReading(channel, about?.owed ?? 0, isNow && isAtEnd && isToEnd);

  const reply = useCallback((one: Said) => {
    setAnswers(one);
    document.querySelector<HTMLElement>('[data-composer]')?.focus();
  }, []);
  const row = useCallback(
    (one: Said, before: Said | undefined) => (
      <MessageRow
        said={one}
        before={before}
        me={me}
        headline={headlines.get(one.message_id)}
        answered={said.find(({ message_id }) => message_id === one.reply_to)}
        {...(isNow && { onReply: reply })}
      />
    ),
    [me, headlines, isNow, reply, said],
  );
  const isPrivate = channel.startsWith('dm/');
  return (
    <section className="talk" aria-label={channelLabel(channel, me)}>
      <header className="talk-head">
        <a className="talk-back" href={hrefOf('talk')}>
          ‹ Channels
        </a>
        <h2 className="clip">
          <Words text={channelLabel(channel, me)} />
          <span className="quiet about">
            <Words text={about?.title ?? about?.description ?? ''} />
          </span>
        </h2>
        {isNow && !isPrivate && (
          <Follow channel={channel} isFollowed={about?.subscribed === true} />
        )}
      </header>
      {said.length > 0 ? (
        <VirtualList
          items={said}
          label="Messages"
          estimatePx={ROW_PX}
          keyOf={keyOf}
          onStart={talk.loadOlder}
          onEnd={setAtEnd}
        >
          {row}
        </VirtualList>
      ) : (
        <div className="talk-empty">
          {error !== null ? (
            <Empty title="This cannot be read">
              <Words text={error} />
            </Empty>
          ) : isRead ? (
            <Empty title="Nothing was said here yet">
              {isNow ? 'Write the first message below.' : 'It was quiet at this moment.'}
            </Empty>
          ) : (
            <p className="waiting">Asking the hub…</p>
          )}
        </div>
      )}
      {!isToEnd && (
        <p className="talk-newer">
          <Button onClick={talk.loadEnd}>To the newest</Button>
        </p>
      )}
      {isNow && (
        <Composer
          key={channel}
          channel={channel}
          label={`Write to ${channelLabel(channel, me)}`}
          answers={answers}
          hasPosts
          types={about?.types ?? []}
          onAnswered={() => setAnswers(null)}
        />
      )}
    </section>
  );
}

/** Stands at the end of a channel and looks at it: what is owed there counts as read from then on. */
function useReading(channel: string, owed: number, isLooking: boolean): void {
  const { client, complain } = useStore();
  const isVisible = useVisible();
  useEffect(() => {
    if (!isLooking || !isVisible || owed === 0) return;
    const input = { channels: [channel], max_messages: 200, include_meta: false };
    void client.recv(input).catch(complain);
  }, [client, complain, channel, isLooking, isVisible, owed]);
}

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const look = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isVisible;
}

interface FollowProps {
  readonly channel: string;
  readonly isFollowed: boolean;
}

/** Whoever follows a channel is owed what is said there, also while no page is open. */
function Follow({ channel, isFollowed }: FollowProps): ReactNode {
  const act = useAct();
  const { value: me } = useAsk('hub.whoami', {}, ['channels']);
  if (me === undefined) return null;
  if (me.subscriptions.includes(channel)) {
    return (
      <Button onClick={() => void act('channels.unsubscribe', { channels: [channel] })}>
        Follow no more
      </Button>
    );
  }
  // A pattern covers more than this channel, and is not dropped in passing.
  if (isFollowed) return <span className="quiet">followed by a pattern</span>;
  return (
    <Button onClick={() => void act('channels.subscribe', { pattern: channel })}>Follow</Button>
  );
}
