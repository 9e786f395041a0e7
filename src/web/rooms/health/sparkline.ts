/** A small chart as the path of a line: values over time, gaps where nothing was measured. Pure. */

export interface Chart {
  /** For the `d` of a path; empty when there is nothing to draw. */
  readonly line: string;
  /** The same, closed along the bottom. */
  readonly area: string;
  /** The top of the scale: a round number at or above the greatest value. */
  readonly top: number;
}

export interface ChartSize {
  readonly width: number;
  readonly height: number;
  /** What the width stands for; the newest value is at the right edge. */
  readonly count: number;
  /** The scale reaches at least this far. */
  readonly topAtLeast?: number;
}

export function chartOf(values: readonly (number | null)[], size: ChartSize): Chart {
  const { width, height, count } = size;
  const known = values.filter((value) => value !== null);
  const top = roundUp(Math.max(size.topAtLeast ?? 0, ...known));
  const step = count > 1 ? width / (count - 1) : width;
  const first = count - values.length;
  let line = '';
  let area = '';
  let began: number | null = null;
  for (const [i, value] of values.entries()) {
    const x = rounded((first + i) * step);
    if (value === null) {
      area += closed(began, x - step, height);
      began = null;
      continue;
    }
    const y = rounded(height - (top === 0 ? 0 : (value / top) * height));
    const point = `${began === null ? 'M' : 'L'}${x} ${y}`;
    line += point;
    area += began === null ? `M${x} ${height}L${x} ${y}` : point;
    began ??= x;
  }
  area += closed(began, width, height);
  return { line, area, top };
}

function closed(began: number | null, x: number, height: number): string {
  return began === null ? '' : `L${rounded(x)} ${height}Z`;
}

/** 1, 2 or 5 times a power of ten, so that the scale is still for a while. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((one) => one * power >= value * 0.999_999) ?? 10;
  return step * power;
}

function rounded(px: number): number {
  return Math.round(px * 10) / 10;
}
