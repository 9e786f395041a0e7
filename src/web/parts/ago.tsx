/** How long ago, in the words of the command line. One clock for all of them, and none while nobody looks. */
import { type ReactNode, useSyncExternalStore } from 'react';
import { createCell } from '../store/cell.ts';

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

/** Now, in Unix seconds, a few seconds late. */
export function useNow(): number {
  return useSyncExternalStore(watchNow, now.get) / 1_000;
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
