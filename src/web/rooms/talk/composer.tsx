/**
 * Where a person writes: a message, an answer, or a post with a title. Enter sends. What could not be sent
 * stays in the field; what was begun on another channel is there when one comes back.
 */
import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { lineOf } from '../../parts/body-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Name, Words } from '../../parts/words.tsx';
import type { Said } from '../../store/talk/channel-log.ts';
import { useAct, useStore } from '../../store/use-store.ts';
import { NO_POST, type Post, PostFields, postBody } from './post-fields.tsx';

interface ComposerProps {
  readonly channel: string;
  readonly label: string;
  readonly answers: Said | null;
  /** Posts stand at the root of a thread: in one there are none. */
  readonly hasPosts: boolean;
  /** The types that a post may have here; none: any. */
  readonly types: readonly string[];
  onAnswered(): void;
}

const TEXT_CHARS_MAX = 100_000;
const ROWS_MAX = 10;
const drafts = new Map<string, string>();

export function Composer(props: ComposerProps): ReactNode {
  const { channel, label, answers, hasPosts, types, onAnswered } = props;
  const place = `${channel} ${hasPosts}`;
  const { say } = useStore();
  const act = useAct();
  const [text, setText] = useState(drafts.get(place) ?? '');
  const [post, setPost] = useState<Post | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();

  const change = (next: string): void => {
    setText(next);
    if (next === '') drafts.delete(place);
    else drafts.set(place, next);
  };
  const send = async (event: FormEvent | KeyboardEvent): Promise<void> => {
    event.preventDefault();
    const body = post === null ? { text } : postBody(post, text);
    if (isBusy || (text.trim() === '' && post === null)) return;
    setBusy(true);
    const sent = await act('channels.send', {
      ...{ channel, body },
      ...(answers !== null && { reply_to: answers.message_id }),
    });
    setBusy(false);
    if (sent === null) return;
    if (sent.metadata?.gate_id !== undefined) say(`held until ${sent.metadata.gate_id} is decided`);
    change('');
    setPost(null);
    onAnswered();
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      void send(event);
    }
  };
  return (
    <form className="composer" onSubmit={(event) => void send(event)}>
      {answers !== null && hasPosts && (
        <p className="composer-answers quiet">
          <span className="clip">
            answers <Name of={answers.sender} />: <Words text={lineOf(answers.body)} />
          </span>
          <button type="button" className="link" onClick={onAnswered}>
            not
          </button>
        </p>
      )}
      {post !== null && <PostFields post={post} types={types} onChange={setPost} />}
      <label className="unseen" htmlFor={id}>
        {label}
      </label>
      <div className="composer-line">
        <textarea
          id={id}
          ref={field}
          className="field"
          data-composer
          placeholder={label}
          rows={Math.min(ROWS_MAX, text.split('\n').length)}
          maxLength={TEXT_CHARS_MAX}
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKey}
        />
        {hasPosts && answers === null && (
          <Button
            aria-pressed={post !== null}
            onClick={() => setPost(post === null ? NO_POST : null)}
          >
            Post
          </Button>
        )}
        <Button type="submit" isMain disabled={isBusy}>
          {isBusy ? 'Sending…' : 'Send'}
        </Button>
      </div>
    </form>
  );
}
