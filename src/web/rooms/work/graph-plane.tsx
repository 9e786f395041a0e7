/**
 * A graph as a person reads it: nodes in their places, reached one by one with the keyboard, and lines between
 * them that are drawn for the eye alone.
 */
import { type ReactNode, useMemo } from 'react';
import { type Edge, type GraphNode, layOut, type Placed } from './graph-layout.ts';

const MEASURES = { nodeWidth: 184, nodeHeight: 44, rankGap: 44, nodeGap: 12 };
const MARGIN = 16;

interface GraphPlaneProps {
  readonly label: string;
  readonly nodes: readonly GraphNode[];
  readonly chosen: string | null;
  /** What stands in the place of a node. */
  children(id: string): ReactNode;
}

export function GraphPlane({ label, nodes, chosen, children }: GraphPlaneProps): ReactNode {
  const layout = useMemo(() => layOut(nodes, MEASURES), [nodes]);
  return (
    <section
      className="graph-scroll"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled with the keyboard too.
      tabIndex={0}
    >
      <div
        className="graph-plane"
        style={{ width: layout.width + 2 * MARGIN, height: layout.height + 2 * MARGIN }}
      >
        <Lines {...{ edges: layout.edges, width: layout.width, height: layout.height, chosen }} />
        <ul>
          {[...layout.nodes].sort(byPlace).map((place) => (
            <li
              key={place.id}
              className="graph-place"
              style={{
                transform: `translate(${place.x + MARGIN}px, ${place.y - MEASURES.nodeHeight / 2 + MARGIN}px)`,
              }}
            >
              {children(place.id)}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function byPlace(a: Placed, b: Placed): number {
  return a.rank - b.rank || a.y - b.y;
}

interface LinesProps {
  readonly edges: readonly Edge[];
  readonly width: number;
  readonly height: number;
  readonly chosen: string | null;
}

function Lines({ edges, width, height, chosen }: LinesProps): ReactNode {
  return (
    <svg
      className="graph-lines"
      aria-hidden="true"
      width={width + 2 * MARGIN}
      height={height + 2 * MARGIN}
      viewBox={`${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`}
    >
      {edges.map(({ from, to, points }) => (
        <path
          key={`${from}\n${to}`}
          d={curveThrough(points)}
          className={chosen === from || chosen === to ? 'line line-chosen' : 'line'}
        />
      ))}
    </svg>
  );
}

/** Level where it leaves and arrives. */
function curveThrough(points: Edge['points']): string {
  const [[x0, y0] = [0, 0], ...rest] = points;
  let [x, y] = [x0, y0];
  let path = `M${x} ${y}`;
  for (const [toX, toY] of rest) {
    const middle = (x + toX) / 2;
    path += y === toY ? `H${toX}` : `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`;
    [x, y] = [toX, toY];
  }
  return path;
}
