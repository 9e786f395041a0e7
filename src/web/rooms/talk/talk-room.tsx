/** The room Talk: channels, what is said on one of them, and a thread of it. */
import { type ReactNode, useEffect, useState } from 'react';
import { Empty } from '../../parts/empty.tsx';
import { type Key, useKeys } from '../../shell/keys.ts';
import { useRoute } from '../../store/route.ts';
import { useAsk, useStore } from '../../store/use-store.ts';
import { ChannelList } from './channel-list.tsx';
import { ChannelView } from './channel-view.tsx';
import { receiptNoun } from './receipts-of.tsx';
import { SearchField, SearchView } from './search-view.tsx';
import { ThreadView } from './thread-view.tsx';
import './talk.css';

const KEYS: readonly Key[] = [
  { key: 'c', does: 'write', run: () => find('[data-composer]')?.focus() },
  { key: 'r', does: 'reply to the message', run: () => press('r') },
  { key: 'o', does: 'open its thread', run: () => press('o') },
  { key: ']', does: 'next channel', run: () => step(1) },
  { key: '[', does: 'previous channel', run: () => step(-1) },
  { key: 'Enter', does: 'open its thread', run: () => press('o') },
  {
    key: 'Escape',
    does: 'close the thread, or what was found',
    run: () => find('[data-close]')?.click(),
  },
];

function find(selector: string): HTMLElement | null {
  return document.querySelector(selector);
}

function press(what: string): void {
  const here = document.activeElement;
  if (what === 'o' && here instanceof HTMLAnchorElement) here.click();
  else here?.closest('[data-row]')?.querySelector<HTMLElement>(`[data-press="${what}"]`)?.click();
}

function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.channels a')];
  const at = links.findIndex((link) => link.ariaCurrent === 'page');
  links[(at + by + links.length) % links.length]?.click();
}

export function TalkRoom(): ReactNode {
  const { rest } = useRoute();
  const [channel, messageId] = rest;
  const { value: who } = useAsk('hub.whoami', {}, []);
  const me = who?.agent_id ?? '';
  const [query, setQuery] = useState('');
  useKeys(KEYS);
  useReceipts();
  // What was found stands until somebody goes on from there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: going anywhere closes it.
  useEffect(() => setQuery(''), [channel, messageId]);
  const isSearching = query !== '';
  const place = isSearching
    ? 'channel'
    : messageId !== undefined
      ? 'thread'
      : channel !== undefined
        ? 'channel'
        : 'list';
  return (
    <div className="talk-room" data-place={place}>
      <h1 className="unseen">Talk</h1>
      <ChannelList current={channel} me={me}>
        <SearchField query={query} onSearch={setQuery} />
      </ChannelList>
      {isSearching ? (
        <SearchView query={query} me={me} onClose={() => setQuery('')} />
      ) : channel === undefined ? (
        <section className="talk talk-none">
          <Empty title="Choose a channel">
            <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>Enter</kbd> opens.
          </Empty>
        </section>
      ) : (
        <ChannelView key={channel} channel={channel} me={me} />
      )}
      {!isSearching && channel !== undefined && messageId !== undefined && (
        <ThreadView key={messageId} channel={channel} messageId={messageId} me={me} />
      )}
    </div>
  );
}

/** What became of one's messages is pushed, and asked for again for those in sight. */
function useReceipts(): void {
  const { client, asks, complain } = useStore();
  useEffect(() => {
    const stopping = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const { message_id } of client.receipts({ signal: stopping.signal })) {
        asks.changed([receiptNoun(message_id)]);
      }
    };
    void follow().catch(complain);
    return () => stopping.abort();
  }, [client, asks, complain]);
}
