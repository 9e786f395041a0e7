/**
 * Who waits in a circle [R14]. A question is answered by any one of those who could answer it, so an
 * agent is deadlocked when all who could answer one of its questions are deadlocked themselves.
 */

export interface OpenQuestion {
  readonly asker: string;
  /** Never empty, never the asker. */
  readonly answerers: readonly string[];
}

/** The largest set of askers each of whom has a question that only the set could answer. */
export function findDeadlocked(questions: readonly OpenQuestion[]): ReadonlySet<string> {
  let stuck: ReadonlySet<string> = new Set(questions.map(({ asker }) => asker));
  for (;;) {
    const still = questions.filter((one) => one.answerers.every((name) => stuck.has(name)));
    const next = new Set(still.map(({ asker }) => asker).filter((name) => stuck.has(name)));
    if (next.size === stuck.size) return next;
    stuck = next;
  }
}
