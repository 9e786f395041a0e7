/** How long ago, in the words of the command line. One clock for all of them, and none while nobody looks. */
import { type ReactNode, useSyncExternalStore } from 'react';
import { createCell, useCell } from '../store/cell.ts';
import { useStore } from '../store/use-store.ts';

const TICK_MS = 10_000;
const now = createCell(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function watchNow(listener: () => void): () => void {
  const stop = now.watch(listener);
  if (watchers++ === 0) timer = setInterval(() => now.set(Date.now()), TICK_MS);
  return () => {
    stop();
    if (--watchers === 0) clearInterval(timer);
  };
}

/** Now, in Unix seconds, a few seconds late; in the past what the clock showed then. */
export function useNow(): number {
  const then = useCell(useStore().pastAt);
  const seconds = useSyncExternalStore(watchNow, now.get) / 1_000;
  return then ?? seconds;
}

/** `4 min`: without words around it. */
export function Ago({ at }: { readonly at: number }): ReactNode {
  const seconds = useNow() - at;
  const date = new Date(at * 1_000);
  return (
    <time dateTime={date.toISOString()} title={fullTime(at)}>
      {spanText(seconds)}
    </time>
  );
}

/** `4 min ago`, or `just now`. */
export function Since({ at }: { readonly at: number }): ReactNode {
  return useNow() - at < 60 ? (
    'just now'
  ) : (
    <>
      <Ago at={at} /> ago
    </>
  );
}

/** `for 4 min`; nothing of what has just begun. */
export function For({ at }: { readonly at: number }): ReactNode {
  if (useNow() - at < 60) return null;
  return (
    <>
      for <Ago at={at} />
    </>
  );
}

/** The time of day; with the date when it was another day. */
export function Clock({ at }: { readonly at: number }): ReactNode {
  const date = new Date(at * 1_000);
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const isToday = date.toDateString() === new Date().toDateString();
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return (
    <time dateTime={date.toISOString()} title={fullTime(at)}>
      {isToday ? time : `${day}, ${time}`}
    </time>
  );
}

export function spanText(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 60) return 'now';
  if (s < 3_600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3_600)} h`;
  return `${Math.floor(s / 86_400)} d`;
}

export function dayText(at: number): string {
  return new Date(at * 1_000).toLocaleDateString('en-CA');
}

function fullTime(at: number): string {
  return new Date(at * 1_000).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'medium' });
}
