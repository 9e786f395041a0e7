/**
 * Tells the code what is on record, in the order in which it came, each when the code has done all it can with
 * what came before [FW2]. Ends with what is on record and was not asked for: none, when the code is the same [FW7].
 */
import { type Journal, stepId } from './journal.ts';
import type { StepView } from './seam.ts';
import type { Visit } from './visit.ts';

export interface ReplayOptions {
  readonly journal: Journal;
  readonly visits: ReadonlyMap<string, Visit>;
  /** How long code that waits for a step may do other things before it asks for the next. */
  readonly graceMs: number;
  /** Rings when the code asks for a step, or has ended. */
  readonly visited: Bell;
  readonly gone: Promise<void>;
  isOver(): boolean;
  tell(visit: Visit, record: StepView): void;
}

/** Something that can be waited for again and again. */
export interface Bell {
  ring(): void;
  rung(): Promise<void>;
}

export function createBell(): Bell {
  let next = Promise.withResolvers<void>();
  return {
    ring() {
      next.resolve();
      next = Promise.withResolvers();
    },
    rung: () => next.promise,
  };
}

/** After everything that can go on without a clock or a file has done so. */
export const immediate = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

export async function replay(options: ReplayOptions): Promise<StepView[]> {
  const { journal, visits, tell } = options;
  await immediate();
  const visitOf = ({ step, key }: StepView) => visits.get(stepId(step, key));
  const next = (): StepView | undefined => journal.next((record) => visitOf(record) !== undefined);
  while (!journal.isTold) {
    await until(() => next() !== undefined, options);
    const record = next();
    const visit = record && visitOf(record);
    if (record === undefined || visit === undefined) return journal.unvisited();
    journal.advance(record);
    tell(visit, record);
    await immediate();
  }
  await until(() => journal.unvisited().length === 0, options);
  return journal.unvisited();
}

/**
 * Code that waits for none of its steps is at work on something else, and may take its time. Code that waits for
 * one has so long to ask for more: one of the steps it waits for may stand where the recorded one stood.
 */
async function until(isThere: () => boolean, options: ReplayOptions): Promise<void> {
  const { visits, graceMs, visited, gone, isOver } = options;
  const isWaiting = (): boolean => [...visits.values()].some(({ state }) => state === 'asked');
  while (!isThere() && !isOver()) {
    const news = Promise.race([visited.rung(), gone]).then(() => false);
    if (isWaiting() ? await isLater(news, graceMs) : await news) return;
  }
}

/** True when so much time was over first. */
async function isLater(news: Promise<boolean>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(late.resolve, ms, true);
  const isLate = await Promise.race([news, late.promise]);
  clearTimeout(timer);
  return isLate;
}
