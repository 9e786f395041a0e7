/**
 * A hub or a bus leaves garbage behind every message, and V8 answers by letting the space for the young
 * grow to 128 MB, which the process then keeps. It is held at what loading took (16 MB): a collection of
 * it is as dear as what survives, and of a message nearly nothing does. For processes of our own alone:
 * it is a setting of the whole process.
 */
import { setFlagsFromString } from 'node:v8';

export function holdYoungSpace(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
