/** A channel for as long as a room shows it; what was read last is kept for a few channels, so that going back is instant. */
import { useEffect, useMemo } from 'react';
import { useCell } from '../cell.ts';
import { useStore } from '../use-store.ts';
import type { ChannelLog } from './channel-log.ts';
import { createTalk, type Talk } from './talk.ts';

const KEPT_CHANNELS = 5;
const KEPT_MESSAGES = 500;
const kept = new Map<string, ChannelLog>();

export function useTalk(channel: string): Talk {
  const store = useStore();
  const past = useCell(store.past);
  const talk = useMemo(() => {
    const known = past === null ? (kept.get(channel) ?? null) : null;
    return createTalk(store, channel, known);
  }, [store, channel, past]);
  useEffect(() => {
    const stop = talk.start();
    return () => {
      stop();
      if (past === null && talk.isRead.get()) keep(channel, talk.log.get());
    };
  }, [talk, channel, past]);
  return talk;
}

/** The newest of it, with its end; a window that had moved away is not worth it. */
function keep(channel: string, { said, isFromStart, isToEnd }: ChannelLog): void {
  kept.delete(channel);
  if (!isToEnd || said.length === 0) return;
  const some = said.slice(-KEPT_MESSAGES);
  kept.set(channel, {
    said: some,
    isFromStart: isFromStart && some.length === said.length,
    isToEnd,
  });
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_CHANNELS) break;
    kept.delete(oldest);
  }
}
