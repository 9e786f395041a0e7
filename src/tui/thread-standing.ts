/** How a thread stands, in few words: replies and marks. Each mark is a word, and a colour besides. */
import { type Span, span } from './spans.ts';
import type { ThreadStanding } from './threads.ts';

/** `3 replies  ▲ pinned  closed  resolved`; nothing for a message that is no thread. */
export function standingSpans(standing: ThreadStanding | undefined): Span[] {
  if (standing === undefined) return [];
  const { replies, isPinned, isClosed, isResolved } = standing;
  const parts = [
    ...(replies > 0 ? [span(replies === 1 ? '1 reply' : `${replies} replies`, { dim: true })] : []),
    ...(isPinned ? [span('▲ pinned', { colour: 'yellow' })] : []),
    ...(isClosed ? [span('closed', { colour: 'magenta' })] : []),
    ...(isResolved ? [span('resolved', { colour: 'green' })] : []),
  ];
  return parts.flatMap((part, at) => (at === 0 ? [part] : [span('  '), part]));
}
