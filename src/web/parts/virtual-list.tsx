/**
 * A list of any length that renders what is looked at. Rows have the height they need: it is measured when
 * they are shown and guessed before. What is looked at stays where it is when rows come or grow above
 * it; a reader at the end stays at the end.
 */
import {
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'react';
import { offsetsOf, rowAt } from './offsets.ts';

interface VirtualListProps<T> {
  readonly items: readonly T[];
  readonly label: string;
  readonly estimatePx: number;
  keyOf(item: T): string;
  children(item: T, before: T | undefined): ReactNode;
  /** The first rows are in sight: older ones may be fetched. */
  onStart?(): void;
  /** Whether the last row is in sight. */
  onEnd?(isAtEnd: boolean): void;
}

const OVERSCAN_PX = 400;
const NEAR_PX = 600;
const END_PX = 24;

export function VirtualList<T>(props: VirtualListProps<T>): ReactNode {
  const { items, label, estimatePx, keyOf, children, onStart, onEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLUListElement>(null);
  const heights = useRef(new Map<string, number>());
  const anchor = useRef<{ readonly key: string; readonly shift: number } | null>(null);
  const isAtEnd = useRef(true);
  const lastShape = useRef('');
  const [version, remeasure] = useReducer((n: number) => n + 1, 0);
  const [view, setView] = useState({ top: 0, height: 0 });

  const keys = useMemo(() => items.map(keyOf), [items, keyOf]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the heights.
  const offsets = useMemo(
    () => offsetsOf(keys, heights.current, estimatePx),
    [keys, estimatePx, version],
  );
  const first = rowAt(offsets, view.top - OVERSCAN_PX);
  const last = Math.min(items.length, rowAt(offsets, view.top + view.height + OVERSCAN_PX) + 1);

  const look = useCallback(() => {
    const { scrollTop, clientHeight, scrollHeight } = box.current as HTMLDivElement;
    const wasAtEnd = isAtEnd.current;
    // Somebody scrolls away from the end; a list that only grew, or a window that was made smaller, does not.
    const shape = `${clientHeight} ${scrollHeight}`;
    const isScrolled = shape === lastShape.current;
    lastShape.current = shape;
    const isNearEnd = scrollHeight - scrollTop - clientHeight <= END_PX;
    isAtEnd.current = isNearEnd || (wasAtEnd && !isScrolled);
    if (wasAtEnd !== isAtEnd.current) onEnd?.(isAtEnd.current);
    const at = rowAt(offsets, scrollTop);
    anchor.current = { key: keys[at] ?? '', shift: scrollTop - (offsets[at] ?? 0) };
    setView((known) =>
      known.top === scrollTop && known.height === clientHeight
        ? known
        : { top: scrollTop, height: clientHeight },
    );
    if (scrollTop < NEAR_PX) onStart?.();
  }, [offsets, keys, onStart, onEnd]);

  // What is shown is measured before it is painted; what turned out otherwise moves nothing in sight.
  useLayoutEffect(() => {
    const list = box.current as HTMLDivElement;
    let isOther = false;
    for (const row of (rows.current as HTMLUListElement).children) {
      const key = (row as HTMLElement).dataset.key as string;
      const { height } = row.getBoundingClientRect();
      if (heights.current.get(key) === height) continue;
      heights.current.set(key, height);
      isOther = true;
    }
    if (isAtEnd.current) list.scrollTop = list.scrollHeight;
    else if (anchor.current !== null) {
      const { key, shift } = anchor.current;
      const at = keys.indexOf(key);
      const top = (offsets[at] ?? 0) + shift;
      if (at >= 0 && Math.abs(list.scrollTop - top) > 1) list.scrollTop = top;
    }
    if (isOther) remeasure();
    else look();
  });

  useEffect(() => {
    const observer = new ResizeObserver(() => remeasure());
    observer.observe(box.current as HTMLDivElement);
    observer.observe(rows.current as HTMLUListElement);
    return () => observer.disconnect();
  }, []);

  return (
    <section
      className="virtual"
      ref={box}
      onScroll={look}
      aria-label={label}
      data-rows="end"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled with the keyboard too.
      tabIndex={0}
    >
      <div className="virtual-whole" style={{ height: offsets[items.length] }}>
        <ul ref={rows} style={{ transform: `translateY(${offsets[first] ?? 0}px)` }}>
          {items.slice(first, last).map((item, i) => (
            <li
              key={keys[first + i]}
              data-key={keys[first + i]}
              aria-posinset={first + i + 1}
              aria-setsize={items.length}
            >
              {children(item, items[first + i - 1])}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
