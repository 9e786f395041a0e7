/** How long each append to a log takes, told as it goes on. */
import type { Log } from '../../log/log.ts';

/** The same log; how long each append took is told once it is durable, and holds nothing up. */
export function timedLog(log: Log, note: (ms: number) => void): Log {
  const append: Log['append'] = (expected, entries) => {
    const startedAt = performance.now();
    const appended = log.append(expected, entries);
    appended.then(
      () => note(performance.now() - startedAt),
      () => {},
    );
    return appended;
  };
  return Object.create(log, { append: { value: append } });
}
