/**
 * Rails: looks at what goes into a deed and at what comes out of it. They run before: what goes in is looked
 * at before the deed is done, and what came out before anybody gets it. A rail that says no, throws or does
 * not answer in time has tripped, and then the deed was not done [PO9]. Only a rail that says so itself runs
 * beside the deed, and then it can only keep the outcome back.
 */
import { deny, type Ruling } from './decision.ts';

/** How long a rail may think. */
export const RAIL_MS_MAX = 10_000;

/**
 * A check of what goes into a deed or comes out of it.
 *
 * @example
 * ```ts
 * const noKeys: Rail = {
 *   ...{ name: 'no keys', on: 'input' },
 *   check: (value) => (JSON.stringify(value).includes('sk-') ? 'it holds a key' : null),
 * };
 * ```
 */
export interface Rail {
  readonly name: string;
  readonly on: 'input' | 'output';
  /** `before` unless it says; `beside` is for what goes in, and lets the deed begin meanwhile. */
  readonly when?: 'before' | 'beside';
  readonly timeoutMs?: number;
  /** Null, or why not: a sentence. `name` is what the deed is called. */
  check(value: unknown, about: { readonly name: string }): string | null | Promise<string | null>;
}

export type Tripped = (ruling: Ruling) => never;

export async function passRails<I, T>(
  rails: readonly Rail[],
  name: string,
  input: I,
  act: (input: I) => T | Promise<T>,
  trip: Tripped,
): Promise<T> {
  const ofInput = rails.filter(({ on }) => on === 'input');
  await all(
    ofInput.filter(({ when }) => when !== 'beside'),
    name,
    input,
    trip,
  );
  const beside = all(
    ofInput.filter(({ when }) => when === 'beside'),
    name,
    input,
    trip,
  );
  // Whoever trips first is heard after the deed is over; nobody is left unheard meanwhile.
  beside.catch(() => {});
  const output = await act(input);
  await beside;
  await all(
    rails.filter(({ on }) => on === 'output'),
    name,
    output,
    trip,
  );
  return output;
}

async function all(
  rails: readonly Rail[],
  name: string,
  value: unknown,
  trip: Tripped,
): Promise<void> {
  const said = await Promise.all(rails.map((rail) => ask(rail, name, value)));
  for (const [at, why] of said.entries()) {
    if (why === null) continue;
    const { name: rail = '', on = 'input' } = rails[at] ?? {};
    trip(deny('rail', name, 'guard.rail', `the rail ${rail} on its ${on}: ${why}`));
  }
}

async function ask(rail: Rail, name: string, value: unknown): Promise<string | null> {
  const timeoutMs = rail.timeoutMs ?? RAIL_MS_MAX;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`it did not answer within ${timeoutMs} ms`), timeoutMs);
  });
  try {
    const said = await Promise.race([rail.check(value, { name }), late]);
    // What is neither null nor a sentence is no leave to go on.
    return said === null || typeof said === 'string' ? said : 'it answered neither null nor why';
  } catch (error) {
    return `it failed (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    clearTimeout(timer);
  }
}
