/**
 * Turns for work that can wait, such as showing history: one piece at a time with the event loop in
 * between, so that whoever else asks is served first. Agents take turns, so that one that wants much
 * delays the others by one piece each.
 */
export interface Turns {
  /** Settles when it is this agent's turn. */
  take(agent: string): Promise<void>;
}

export function createTurns(soon: (run: () => void) => void): Turns {
  const lines = new Map<string, (() => void)[]>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || lines.size === 0) return;
    isScheduled = true;
    soon(next);
  }

  function next(): void {
    isScheduled = false;
    for (const [agent, line] of lines) {
      // Out and in again: behind all others that wait.
      lines.delete(agent);
      const begin = line.shift();
      if (line.length > 0) lines.set(agent, line);
      begin?.();
      break;
    }
    schedule();
  }

  return {
    take: (agent) =>
      new Promise((resolve) => {
        const line = lines.get(agent);
        if (line === undefined) lines.set(agent, [resolve]);
        else line.push(resolve);
        schedule();
      }),
  };
}
