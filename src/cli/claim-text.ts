/** A claim, and the refusal of one, for a person: who holds what, until when, and how to get it. */
import { basename } from 'node:path';
import { SynodError } from '../client/error.ts';
import { quoted } from '../place/problem.ts';
import type { ClaimView } from './claims-of-hub.ts';
import { CliError, toFailure } from './failure.ts';
import { ageText, clockTime, leftText } from './message-text.ts';
import { neutralise } from './terminal.ts';

interface RefusalDetail {
  readonly id?: string;
  readonly holder?: string;
  /** In seconds, like every time on the wire. */
  readonly lapses_at?: number;
  readonly until?: number;
  readonly gone_since?: number;
  readonly overlaps?: readonly {
    readonly mine: string;
    readonly theirs: string;
    readonly witness: string;
    readonly id: string;
    readonly holder: string;
  }[];
}

const WAITABLE: ReadonlySet<string> = new Set(['claim.held', 'claim.overlap', 'claim.reserved']);
const SHOWN_MAX = 8;

/** A refusal that time may cure. */
export function isWaitable(error: unknown): error is SynodError {
  return error instanceof SynodError && WAITABLE.has(error.code);
}

/** Where two scopes meet; the other's words are quoted, for nobody knows what they say. */
export function metText({ mine, theirs }: { mine: string; theirs: string }): string {
  return mine === theirs ? mine : `${mine} meets ${quoted(theirs)}`;
}

/** `until 14:02:11 (1 h)`: an hour just begun is an hour. */
export function untilText(seconds: number): string {
  return `until ${clockTime(seconds)} (${leftText(seconds - Date.now() / 1000)})`;
}

/** What a claim covers, in few words; bounded, and as others wrote it. */
export function scopeText({ worktree, paths }: ClaimView): string {
  if (paths.length === 0) return worktree === '' ? 'no files' : `all of ${worktree}`;
  const more = paths.length > SHOWN_MAX ? ` and ${paths.length - SHOWN_MAX} more` : '';
  // Outside git the label is the root of the disk, and the paths are whole with it.
  const root = worktree === '/' ? '/' : '';
  const shown = paths.slice(0, SHOWN_MAX).map((path) => `${root}${path}`);
  return `${shown.join(', ')}${more}`;
}

export function claimRow(claim: ClaimView): string[] {
  const { task_id: id, status, branch, lease_expires_at: lapses, note, gone_since: gone } = claim;
  const owner =
    gone === undefined ? claim.owner : `${claim.owner} (gone ${ageText(Date.now() / 1000 - gone)})`;
  // A name is one for the whole space, so the repository is shown with it.
  const place = claim.paths.length > 0 ? basename(claim.worktree) : '';
  const scope = place === '' ? scopeText(claim) : `${place}: ${scopeText(claim)}`;
  const where = branch === null ? scope : `${scope} on ${branch}`;
  return [id, owner, status, untilText(lapses), note === '' ? where : `${where}: ${note}`];
}

/** What to do about a name that is held for another repository; null where that is not the trouble. */
export function elsewhereText(
  task: string,
  mine: string,
  held: ClaimView | undefined,
): string | null {
  const theirs = held?.worktree ?? '';
  if (theirs === '' || mine === '' || theirs === mine) return null;
  const name = `${basename(mine)}/${task}`;
  return `${theirs}, and you are in ${mine}: a task has one name in the whole space; take ${name}`;
}

/** The same refusal, with the lines that say who, what, until when, and how to wait. */
export function explainRefusal(
  error: unknown,
  howToWait: string,
  elsewhere: string | null = null,
): unknown {
  if (!isWaitable(error)) return error;
  const detail = error.detail as RefusalDetail;
  const lapses = detail.lapses_at ?? detail.until;
  const held = detail.id === undefined ? '' : ` (${detail.id})`;
  const overlaps = (detail.overlaps ?? []).slice(0, SHOWN_MAX).map((one) => {
    const by = one.holder === detail.holder ? '' : `, held by ${one.holder}`;
    return `overlap  ${metText(one)}${by}`;
  });
  const lines = [
    ...(detail.holder === undefined ? [] : [`holder   ${detail.holder}${held}`]),
    ...(elsewhere === null ? [] : [`where    ${elsewhere}`]),
    ...overlaps,
    ...(lapses === undefined ? [] : [`lapses   ${untilText(lapses).slice('until '.length)}`]),
    ...(detail.gone_since === undefined
      ? []
      : [
          `gone     for ${ageText(Date.now() / 1000 - detail.gone_since)}; free it: synod release ${detail.id} --force`,
        ]),
    `wait     ${howToWait}`,
  ];
  const { code, message, exit, envelope } = toFailure(error);
  const hint = lines.map(neutralise).join('\n');
  return new CliError({ ...envelope, message }, { code, exit, hint }, error);
}
