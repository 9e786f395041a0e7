/** The channels: those with something unread first to the eye by their number, in the order of the terminal. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { channelLabel, compareChannels, privateChannel } from '../../../client/names.ts';
import { Count } from '../../parts/count.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Words } from '../../parts/words.tsx';
import { go, hrefOf } from '../../store/route.ts';
import { useChannels } from './channels.ts';

interface ChannelListProps {
  readonly current: string | undefined;
  readonly me: string;
  readonly children: ReactNode;
}

export function ChannelList({ current, me, children }: ChannelListProps): ReactNode {
  const asked = useChannels();
  return (
    <nav className="channels" aria-label="Channels" data-rows>
      {children}
      <GoTo me={me} />
      <Shown asked={asked}>
        {({ channels }) => {
          const owed = new Map(channels.map((one) => [one.name, one.owed]));
          const names = channels.map(({ name }) => name);
          // One that nobody uses yet is shown while it is looked at.
          if (current !== undefined && !names.includes(current)) names.push(current);
          return names.length === 0 ? (
            <Empty title="No channels yet" command='synod send general "hello"'>
              A channel is there once somebody writes to it.
            </Empty>
          ) : (
            <ul>
              {names.sort(compareChannels).map((name) => (
                <li key={name}>
                  <a
                    data-row
                    href={hrefOf('talk', name)}
                    aria-current={name === current ? 'page' : undefined}
                    className={name.startsWith('sox/') ? 'channel quiet' : 'channel'}
                  >
                    <span className="clip">
                      <Words text={channelLabel(name, me)} />
                    </span>
                    <Count of={owed.get(name) ?? 0} what="unread" />
                  </a>
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
    </nav>
  );
}

/** A channel by its name, or an agent with an @ before it; it need not be there yet. */
function GoTo({ me }: { readonly me: string }): ReactNode {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const name = text.trim();
    if (name === '') return;
    go('talk', name.startsWith('@') ? privateChannel(me, name.slice(1)) : name);
    setText('');
  };
  return (
    <form className="go-to" onSubmit={submit}>
      <input
        className="field"
        aria-label="Go to a channel, or to an agent with @"
        placeholder="Go to… or @agent"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}
