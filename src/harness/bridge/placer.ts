/**
 * Paths that an agent names without a worktree are meant from where it stands: they are claimed as
 * `synod claim` claims them, so that the two meet.
 */
import { realpath } from 'node:fs/promises';
import type { Refusal } from '../../core/law/decider.ts';
import { placeNames, refusalOf } from '../../place/claim-scope.ts';
import { type Ground, plainGround, readGround } from '../../place/place.ts';
import { isProblem } from '../../place/problem.ts';
import type { Fields } from '../../wire/fields.ts';

const PLACED: ReadonlySet<string> = new Set(['claims_take', 'claims_check', 'claims_wait']);

/**
 * A claim without paths is of the work alone, or keeps what it has, and is left as it is: with a
 * worktree it would be of all files.
 */
export function createPlacer(
  cwd: string,
): (name: string, input: unknown) => Promise<unknown | Refusal> {
  let known: Promise<Ground> | null = null;
  return async (name, input) => {
    if (!PLACED.has(name)) return input;
    const { worktree, branch, paths } = (input ?? {}) as Fields;
    if (worktree != null || !isNames(paths)) return input;
    // The worktree stays, but by the next claim another branch may be checked out.
    if (known === null || name === 'claims_take') known = groundAt(cwd);
    const ground = await known;
    const placed = await placeNames(ground, paths);
    if (isProblem(placed)) return refusalOf(placed);
    return {
      ...(input as object),
      ...placed,
      ...(name === 'claims_take' && { branch: branch ?? ground.repository?.branch ?? null }),
      ...(name === 'claims_check' && placed.paths.length === 0 && { paths: ['**'] }),
    };
  };
}

/** Where git cannot tell, the folder itself. */
async function groundAt(cwd: string): Promise<Ground> {
  const ground = await readGround(cwd);
  return isProblem(ground) ? plainGround(await realpath(cwd)) : ground;
}

function isNames(paths: unknown): paths is readonly string[] {
  return Array.isArray(paths) && paths.length > 0 && paths.every((one) => typeof one === 'string');
}
