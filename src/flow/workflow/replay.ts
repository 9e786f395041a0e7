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
  /** How long the code may do other things between its steps. */
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

async function until(isThere: () => boolean, options: ReplayOptions): Promise<void> {
  const { graceMs, visited, gone, isOver } = options;
  if (isThere()) return;
  let isLate = false;
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    isLate = true;
    late.resolve();
  }, graceMs);
  while (!isThere() && !isLate && !isOver()) {
    await Promise.race([visited.rung(), late.promise, gone]);
  }
  clearTimeout(timer);
}
