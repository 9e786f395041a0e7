/**
 * What others wrote, as text and never as markup. Characters that would hide, reorder or pretend are
 * written out (`\u{202e}`), and each piece stands alone, so that it cannot turn around what is beside it.
 */
import { type ReactNode, useState } from 'react';
import { plainLine } from '../../wire/plain-line.ts';

/** Who the hub is when it speaks itself. */
const HUB = '__server__';
const PROSE_CHARS_MAX = 2_000;
const PROSE_LINES_MAX = 24;

/** One line. */
export function Words({ text }: { readonly text: string }): ReactNode {
  return <bdi>{plainLine(text, ' ')}</bdi>;
}

export function Name({ of }: { readonly of: string }): ReactNode {
  return <bdi className="name">{of === HUB ? 'the hub' : plainLine(of, ' ')}</bdi>;
}

/** An id, a hash, a path: set in the other face. */
export function Code({ text }: { readonly text: string }): ReactNode {
  return <code dir="auto">{plainLine(text, ' ')}</code>;
}

/** As many lines as there are, up to a bound; the rest when it is asked for. */
export function Prose({ text }: { readonly text: string }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const short = isWhole ? text : shortened(text);
  const lines = short.split(/\r?\n/).map((line) => plainLine(line, '\t'));
  return (
    <>
      <p className="prose" dir="auto">
        {lines.join('\n')}
        {short.length < text.length && '…'}
      </p>
      {short.length < text.length && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  );
}

function shortened(text: string): string {
  const lines = text.slice(0, PROSE_CHARS_MAX).toWellFormed().split('\n');
  return lines.slice(0, PROSE_LINES_MAX).join('\n');
}
