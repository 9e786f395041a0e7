/**
 * A hub or a bus leaves garbage behind every message, and V8 answers by letting the space for the young
 * grow to 128 MB, which the process then keeps. It is held at what loading took (16 MB): a collection of
 * it is as dear as what survives, and of a message nearly nothing does. A process that loads little is let
 * grow as far as it says first: where the space is too small for what is in flight, that survives and is
 * kept as if it were old. For processes of our own alone: it is a setting of the whole process.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const LOOK_MS = 1_000;

/** Both halves of it, in megabytes. */
export function holdYoungSpace(atLeastMb = 0): void {
  const hold = (): void => setFlagsFromString('--semi-space-growth-factor=1');
  if (youngMb() >= atLeastMb) return hold();
  const timer = setInterval(() => {
    if (youngMb() < atLeastMb) return;
    clearInterval(timer);
    hold();
  }, LOOK_MS);
  timer.unref();
}

function youngMb(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return (young?.space_size ?? 0) / 2 ** 20;
}
