/**
 * A hub or a bus leaves garbage behind every message, and V8 answers by letting the space for the young
 * grow to 128 MB, which the process then keeps. It is let grow as far as is asked for and held there: a collection
 * of it is as dear as what survives, and of a message nearly nothing does; where the space is too small for
 * what is in flight, that survives and is kept as if it were old. How much of it loading takes differs from
 * start to start. In a process that rests for some seconds V8 gives nearly all of it back, so it is let grow again
 * when there is work: held at what was left it would be a megabyte for ever. For processes of our own alone: it
 * is a setting of the whole process.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Both halves of it, in megabytes. */
export function holdYoungSpace(atLeastMb: number): void {
  let isHeld = false;
  const look = (): void => {
    const isLarge = youngMb() >= atLeastMb;
    if (isLarge === isHeld) return;
    isHeld = isLarge;
    // By how much it grows when what survives asks for it; V8's own is 2.
    setFlagsFromString(`--semi-space-growth-factor=${isHeld ? 1 : 2}`);
  };
  look();
  // It grows and shrinks at a collection and at no other time.
  new PerformanceObserver(look).observe({ type: 'gc' });
}

/**
 * The main thread collects the young alone. Of a few megabytes nearly all is dead: to wake other threads and wait for
 * them costs more than their help, and on few processors it is time taken from those who are served.
 */
export function collectYoungAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}

/** As large as it is now. */
export function youngMb(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return (young?.space_size ?? 0) / 2 ** 20;
}
