/**
 * The program that tests start: the one that `tested-program.ts` bundled for this run, else (in watch mode, or
 * outside of tests) that of the checkout.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TESTED = process.env.SYNOD_TESTED_BIN;
const CHECKOUT = fileURLToPath(new URL('../bin', import.meta.url));

/** The one that runs the sources. */
export const CHECKOUT_BIN: string = join(CHECKOUT, 'synod.js');

/** Where what it compiled is kept; it may be shared, since it depends on the sources alone. */
export const CACHE: string =
  TESTED === undefined ? join(CHECKOUT, '../node_modules/.cache') : join(TESTED, '../cache');

/** `synod` itself; the other names of the program lie beside it. */
export const BIN: string = join(TESTED ?? CHECKOUT, 'synod.js');
