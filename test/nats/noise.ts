import { randomBytes } from 'node:crypto';

/** Text that nothing makes much smaller: what is kept compressed is about as large. */
export function noise(chars: number): string {
  return randomBytes(chars).toString('base64').slice(0, chars);
}
