/**
 * The record as a slider: what happened when, and the way to any of it. Moving it shows every room as it was
 * then; at the right edge is now. The arrow keys go entry by entry.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { CallOutput, Client } from '../../client/index.ts';
import { dayText } from '../parts/ago.tsx';
import { useCell } from '../store/cell.ts';
import { useAsk, useStore } from '../store/use-store.ts';
import { useKeys } from './keys.ts';
import { barsOf, partOf, positionAt, stepFrom } from './time-scale.ts';
import './slider.css';

type Span = CallOutput<'record.span'>;

const WINDOWS = { hour: 3_600, day: 86_400, week: 604_800, all: null } as const;
type Window = keyof typeof WINDOWS;

/** Keys of the slider itself; the others are the browser's. */
const STEPPING: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -1, ArrowDown: -1, ',': -1 },
  ...{ ArrowRight: 1, ArrowUp: 1, '.': 1, '\\': Number.POSITIVE_INFINITY },
};

const BUCKETS = 160;
const STEPS = 10_000;
/** While it is dragged, every room is asked no more often than this. */
const DRAG_MS = 120;
const SPAN_AGE_MS = 15_000;

export function Slider(): ReactNode {
  const { past, pastAt } = useStore();
  const position = useCell(past);
  const at = useCell(pastAt);
  const [window, setWindow] = useState<Window>('day');
  const span = useSpan(window);
  const move = useThrottled((next: number | null) => past.set(next), DRAG_MS);
  // What is under the thumb, before the rooms have followed.
  const [held, setHeld] = useState<number | null>(null);
  useStepKeys(span);
  if (span === null || span.length === 0) return null;
  const part = held ?? partOf(span, position);
  const slide = (to: number): void => {
    setHeld(to);
    move(positionAt(span, to));
  };
  const step = (event: KeyboardEvent): void => {
    const by = STEPPING[event.key];
    if (by === undefined) return;
    event.preventDefault();
    past.set(stepFrom(span, past.get(), by));
  };
  return (
    <div className="slider">
      <select
        className="slider-window"
        aria-label="How far back the slider goes"
        value={window}
        onChange={({ target }) => setWindow(target.value as Window)}
      >
        <option value="hour">hour</option>
        <option value="day">day</option>
        <option value="week">week</option>
        <option value="all">all</option>
      </select>
      <span className="slider-edge quiet">{edgeText(span.from)}</span>
      <span className="slider-track">
        <Bars span={span} part={part} />
        <input
          type="range"
          aria-label="The record in time"
          aria-valuetext={position === null ? 'now' : `${edgeText(at)}, position ${position}`}
          min={0}
          max={STEPS}
          value={Math.round(part * STEPS)}
          onChange={({ target }) => slide(Number(target.value) / STEPS)}
          onPointerUp={() => setHeld(null)}
          onBlur={() => setHeld(null)}
          onKeyDown={step}
          onKeyUp={() => setHeld(null)}
        />
      </span>
      <button
        type="button"
        className="link slider-now"
        disabled={position === null}
        onClick={() => past.set(null)}
      >
        now
      </button>
    </div>
  );
}

function Bars({ span, part }: { readonly span: Span; readonly part: number }): ReactNode {
  const bars = useMemo(() => barsOf(span), [span]);
  return (
    <svg
      className="slider-bars"
      viewBox={`0 0 ${bars.length} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bars.map((height, i) =>
        height === 0 ? null : (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a slice is its place.
            key={i}
            x={i + 0.1}
            y={1 - height}
            width={0.8}
            height={height}
            className={i + 0.5 <= part * bars.length ? 'bar-then' : 'bar-later'}
          />
        ),
      )}
    </svg>
  );
}

/** The time where the window begins; with the date when that is another day. */
function edgeText(at: number | null): string {
  if (at === null) return '';
  const isToday = dayText(at) === dayText(Date.now() / 1_000);
  const time = new Date(at * 1_000).toLocaleTimeString('en-GB', {
    ...{ hour: '2-digit', minute: '2-digit' },
  });
  return isToday ? time : `${dayText(at).slice(5)} ${time}`;
}

/** Asked for when the page is opened and the window chosen, and again, not too often, as the record grows. */
function useSpan(window: Window): Span | null {
  const { client, past, link } = useStore();
  const { state } = useCell(link);
  const { value: status } = useAsk('hub.status', {}, ['record']);
  const [span, setSpan] = useState<Span | null>(null);
  const asked = useRef({ at: 0, window: '' });
  const entries = status?.entries ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: more entries are a reason to look again.
  useEffect(() => {
    const isFresh = performance.now() - asked.current.at < SPAN_AGE_MS;
    const isSame = asked.current.window === window;
    if (state !== 'open' || (isSame && (isFresh || past.get() !== null))) return;
    asked.current = { at: performance.now(), window };
    askSpan(client, WINDOWS[window])
      .then(setSpan)
      // Who may not look back, or has nothing to look back on, has no slider.
      .catch(() => setSpan(null));
  }, [client, past, state, window, entries]);
  return span;
}

/** So many seconds back from now, but no further than the record goes. */
async function askSpan(client: Client, seconds: number | null): Promise<Span> {
  const to = Date.now() / 1_000;
  const from = seconds === null ? 0 : to - seconds;
  const whole = await client.call('record.span', { buckets: 1 });
  const begin = Math.max(from, whole.first ?? to);
  return client.call('record.span', { buckets: BUCKETS, from: begin, to });
}

/** Runs now, or a while after the last time, with the newest. */
function useThrottled<T>(run: (value: T) => void, everyMs: number): (value: T) => void {
  const state = useRef({ at: 0, timer: undefined as ReturnType<typeof setTimeout> | undefined });
  return (value) => {
    const { at, timer } = state.current;
    clearTimeout(timer);
    const go = (): void => {
      state.current.at = performance.now();
      run(value);
    };
    const waitMs = at + everyMs - performance.now();
    if (waitMs <= 0) go();
    else state.current.timer = setTimeout(go, waitMs);
  };
}

function useStepKeys(span: Span | null): void {
  const { past } = useStore();
  const keys = useMemo(() => {
    if (span === null) return [];
    const by = (step: number) => () => past.set(stepFrom(span, past.get(), step));
    return [
      { key: ',', does: 'one entry back in time', run: by(-1) },
      { key: '.', does: 'one entry forward', run: by(1) },
      { key: '\\', does: 'back to now', run: () => past.set(null) },
    ];
  }, [span, past]);
  useKeys(keys);
}
