/** A small chart with its newest value: the first line with its area, a second one thinner over it. */
import type { ReactNode } from 'react';
import { chartOf } from './sparkline.ts';

interface SparkProps {
  readonly title: string;
  readonly note?: string;
  /** Oldest first; the scale is that of all. */
  readonly lines: readonly (readonly (number | null)[])[];
  readonly topAtLeast?: number;
  text(value: number): string;
}

const WIDTH = 240;
const HEIGHT = 56;
/** Ten minutes of samples. */
const COUNT = 120;

export function Spark({ title, note, lines, topAtLeast = 0, text }: SparkProps): ReactNode {
  const [first = []] = lines;
  const greatest = Math.max(topAtLeast, ...lines.flat().map((value) => value ?? 0));
  const size = { width: WIDTH, height: HEIGHT, count: COUNT, topAtLeast: greatest };
  const charts = lines.map((values) => chartOf(values, size));
  const newest = first.findLast((value) => value !== null) ?? null;
  return (
    <figure className="spark">
      <figcaption>
        <span className="spark-title">{title}</span>
        <span className="spark-now">{newest === null ? '–' : text(newest)}</span>
        {note !== undefined && <span className="spark-note quiet">{note}</span>}
        <span className="spark-top quiet">
          {greatest > 0 && `at most ${text(Math.max(...lines.flat().map((value) => value ?? 0)))}`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
        width="100%"
        height={HEIGHT}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path className="spark-ground" d={`M0 ${HEIGHT}H${WIDTH}`} />
        {charts.map(({ line, area }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a chart never change places.
          <g key={i} className={i === 0 ? 'spark-first' : 'spark-second'}>
            {i === 0 && <path className="spark-area" d={area} />}
            <path className="spark-line" d={line} />
          </g>
        ))}
      </svg>
    </figure>
  );
}
