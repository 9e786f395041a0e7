/**
 * For load that goes on until whoever started it has seen enough: it says that it has begun with a line, and ends
 * when its stdin does.
 */
export interface UntilTold {
  readonly isOver: boolean;
  readonly over: Promise<void>;
}

export function begun(): UntilTold {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  process.stdin
    .on('end', () => {
      isOver = true;
      resolve();
    })
    .resume();
  process.stdout.write('{"begun":true}\n');
  return {
    over,
    get isOver() {
      return isOver;
    },
  };
}
