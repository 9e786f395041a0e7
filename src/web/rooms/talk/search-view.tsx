/** Search over everything one may read: the field, which `/` goes to from anywhere, and what was found, the newest first. */
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { CallOutput } from '../../../client/index.ts';
import { Clock } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { wantsSearch } from '../../shell/keys.ts';
import { useCell } from '../../store/cell.ts';
import { hrefOf } from '../../store/route.ts';
import { useAsk } from '../../store/use-store.ts';
import { ChannelName } from './message-row.tsx';

type Found = CallOutput<'search.messages'>['messages'][number];

interface SearchFieldProps {
  readonly query: string;
  onSearch(query: string): void;
}

export function SearchField({ query, onSearch }: SearchFieldProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query);
  const isWanted = useCell(wantsSearch);
  useEffect(() => {
    if (!isWanted) return;
    wantsSearch.set(false);
    field.current?.focus();
    field.current?.select();
  }, [isWanted]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSearch(text.trim());
  };
  return (
    <search className="go-to">
      <form onSubmit={submit}>
        <input
          ref={field}
          className="field"
          type="search"
          aria-label="Search messages"
          placeholder="Search  /"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            if (event.target.value === '') onSearch('');
          }}
        />
      </form>
    </search>
  );
}

interface SearchViewProps {
  readonly query: string;
  readonly me: string;
  onClose(): void;
}

export function SearchView({ query, me, onClose }: SearchViewProps): ReactNode {
  return (
    <section className="talk" aria-label="What was found">
      <header className="talk-head">
        <h2 className="clip">
          Found: <Words text={query} />
        </h2>
        <Button data-close onClick={onClose}>
          Close
        </Button>
      </header>
      <div className="found" data-rows>
        <Page key={query} query={query} after={undefined} me={me} />
      </div>
    </section>
  );
}

interface PageProps {
  readonly query: string;
  readonly after: string | undefined;
  readonly me: string;
}

const PAGE = 30;

function Page({ query, after, me }: PageProps): ReactNode {
  const [isMore, setMore] = useState(false);
  const asked = useAsk(
    'search.messages',
    { query, limit: PAGE, ...(after !== undefined && { after }) },
    [],
  );
  return (
    <Shown asked={asked}>
      {({ messages, next, complete }) => (
        <>
          {!complete && <p className="quiet found-note">The index is still being built.</p>}
          {messages.length === 0 && after === undefined && (
            <Empty title="Nothing was found">
              Words, "phrases", beginnings*, -without, from:NAME, in:CHANNEL.
            </Empty>
          )}
          <ul>
            {messages.map((one) => (
              <FoundRow key={one.message_id} found={one} me={me} />
            ))}
          </ul>
          {next !== null &&
            (isMore ? (
              <Page query={query} after={next} me={me} />
            ) : (
              <p className="thread-more">
                <Button onClick={() => setMore(true)}>More</Button>
              </p>
            ))}
        </>
      )}
    </Shown>
  );
}

function FoundRow({ found, me }: { readonly found: Found; readonly me: string }): ReactNode {
  const { channel, message_id, sender, sent_at, excerpt, found: places } = found;
  return (
    <li>
      <a data-row className="found-row" href={hrefOf('talk', channel, message_id)}>
        <span className="message-head">
          <Name of={sender} />
          <span className="quiet">
            <ChannelName name={channel} me={me} />
          </span>
          <span className="quiet message-time">
            <Clock at={sent_at} />
          </span>
        </span>
        <span className="found-text">
          {piecesOf(excerpt, places).map(({ at, text, isFound }) =>
            isFound ? (
              <mark key={at}>
                <Words text={text} />
              </mark>
            ) : (
              <Words key={at} text={text} />
            ),
          )}
        </span>
      </a>
    </li>
  );
}

interface Piece {
  readonly at: number;
  readonly text: string;
  readonly isFound: boolean;
}

/** The excerpt cut where something was found. */
function piecesOf(text: string, places: readonly (readonly number[])[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of places) {
    if (from < at) continue;
    if (from > at) pieces.push({ at, text: text.slice(at, from), isFound: false });
    pieces.push({ at: from, text: text.slice(from, to), isFound: true });
    at = to;
  }
  if (at < text.length) pieces.push({ at, text: text.slice(at), isFound: false });
  return pieces;
}
