/**
 * A hub or a bus leaves garbage behind every message, and V8 answers by letting the space for the young
 * grow to 128 MB, which the process then keeps. It is let grow as far as is asked for and held there: a collection
 * of it is as dear as what survives, and of a message nearly nothing does; where the space is too small for
 * what is in flight, that survives and is kept as if it were old. How much of it loading takes differs from
 * start to start. For processes of our own alone: it is a setting of the whole process.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Both halves of it, in megabytes. */
export function holdYoungSpace(atLeastMb: number): void {
  const hold = (): void => setFlagsFromString('--semi-space-growth-factor=1');
  if (youngMb() >= atLeastMb) return hold();
  // It grows at a collection and at no other time.
  const collections = new PerformanceObserver(() => {
    if (youngMb() < atLeastMb) return;
    collections.disconnect();
    hold();
  });
  collections.observe({ type: 'gc' });
}

/** As large as it is now. */
export function youngMb(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return (young?.space_size ?? 0) / 2 ** 20;
}
