/**
 * Whether there is an order of the acts on one thing that explains every answer and agrees with the clock: what
 * was answered before another was asked comes first. The search is that of Wing and Gong with the memory of Lowe: a set
 * of acts that were placed, with what they leave behind, is tried once. An act of which nobody knows the end may
 * come at any time after it was asked, or never.
 */

export interface Timed<A> {
  readonly act: A;
  readonly from: number;
  /** Null: nobody knows whether it was done. */
  readonly to: number | null;
}

export interface Model<S, A> {
  readonly initial: S;
  /** What is there after it; null where it cannot have been answered so. */
  step(state: S, act: A): S | null;
  /** Equal for states that are alike. */
  name(state: S): string;
}

export type Verdict<T> =
  | { readonly isLinearizable: true }
  | {
      readonly isLinearizable: false;
      /** The act whose answer no order explains any more. */
      readonly witness: T;
      /** The longest order that could be found before it. */
      readonly placed: readonly T[];
    }
  | { readonly isLinearizable: null; readonly tried: number };

const TRIES_MAX = 2_000_000;

export function linearize<S, A, T extends Timed<A>>(
  model: Model<S, A>,
  history: readonly T[],
  triesMax: number = TRIES_MAX,
): Verdict<T> {
  const whole = search(model, history, triesMax);
  if (whole === null) return { isLinearizable: null, tried: triesMax };
  if (whole.isFound) return { isLinearizable: true };
  // What was true up to a moment stays true, so the first answer that breaks it is found by halves.
  const ends = history.flatMap(({ to }) => (to === null ? [] : [to])).sort((a, b) => a - b);
  let low = 0;
  let placed = whole.longest;
  for (let high = ends.length - 1; low < high; ) {
    const middle = (low + high) >>> 1;
    const part = search(model, until(history, ends[middle] as number), triesMax);
    if (part === null) return { isLinearizable: null, tried: triesMax };
    if (part.isFound) low = middle + 1;
    else {
      high = middle;
      placed = part.longest;
    }
  }
  const end = ends[low] as number;
  const witness = history.find(({ to }) => to === end) as T;
  return { isLinearizable: false, witness, placed };
}

/** As it was known at a moment: what was not asked yet is not there, what was not answered yet is open. */
function until<A, T extends Timed<A>>(history: readonly T[], end: number): T[] {
  return history
    .filter(({ from }) => from <= end)
    .map((one) => (one.to !== null && one.to > end ? { ...one, to: null } : one));
}

interface Found<T> {
  readonly isFound: boolean;
  readonly longest: readonly T[];
}

interface Frame<S> {
  readonly state: S;
  readonly options: readonly number[];
  next: number;
  /** Placed to come here; -1 at the root. */
  readonly placed: number;
}

/** Null when it gave up. */
function search<S, A, T extends Timed<A>>(
  model: Model<S, A>,
  history: readonly T[],
  triesMax: number,
): Found<T> | null {
  const order = [...history].sort((a, b) => a.from - b.from);
  const isPlaced = order.map(() => false);
  let left = order.filter(({ to }) => to !== null).length;
  const seen = new Set<string>();
  let longest: readonly T[] = [];
  let tries = 0;

  /** What may come next: asked before the first of the others was answered. The open ones are tried last. */
  const optionsOf = (): number[] => {
    let end = Number.POSITIVE_INFINITY;
    const known: number[] = [];
    const open: number[] = [];
    for (const [i, one] of order.entries()) {
      if (one.from > end) break;
      if (isPlaced[i]) continue;
      if (one.to === null) open.push(i);
      else {
        known.push(i);
        end = Math.min(end, one.to);
      }
    }
    known.sort((a, b) => (order[a]?.to ?? 0) - (order[b]?.to ?? 0));
    return [...known, ...open].filter((i) => (order[i] as T).from <= end);
  };
  /** The placed ones are nearly all of the first ones: those that are not, up to the last that is. */
  const nameOf = (state: S): string => {
    const last = isPlaced.lastIndexOf(true);
    const gaps: number[] = [];
    for (let i = 0; i < last; i++) if (!isPlaced[i]) gaps.push(i);
    return `${last} ${gaps.join(',')} ${model.name(state)}`;
  };

  const stack: Frame<S>[] = [{ state: model.initial, options: optionsOf(), next: 0, placed: -1 }];
  while (left > 0) {
    const top = stack.at(-1);
    if (top === undefined) return { isFound: false, longest };
    const at = top.options[top.next++];
    if (at === undefined) {
      stack.pop();
      if (top.placed >= 0) {
        isPlaced[top.placed] = false;
        if (order[top.placed]?.to !== null) left++;
      }
      continue;
    }
    const one = order[at] as T;
    const state = model.step(top.state, one.act);
    if (state === null) continue;
    if (++tries > triesMax) return null;
    isPlaced[at] = true;
    const name = nameOf(state);
    if (seen.has(name)) {
      isPlaced[at] = false;
      continue;
    }
    seen.add(name);
    if (one.to !== null) left--;
    stack.push({ state, options: optionsOf(), next: 0, placed: at });
    if (stack.length - 1 > longest.length)
      longest = stack.flatMap(({ placed }) => (placed < 0 ? [] : [order[placed] as T]));
  }
  return { isFound: true, longest };
}
