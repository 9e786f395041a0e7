/** `synod log audit`: who did what to what, and how it ended; asks the hub, the newest first. */
import type { Command } from 'commander';
import type { OutputOf } from '../wire/operation.ts';
import type { auditList } from '../wire/operations/audit.ts';
import { handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags, seconds } from './parse-value.ts';
import { type Colours, neutralise } from './terminal.ts';

interface AuditFlags extends PageFlags {
  readonly since?: number;
  readonly until?: number;
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly outcome?: string;
}

type Deed = OutputOf<typeof auditList>['deeds'][number];

export function registerLogAudit(log: Command): void {
  const command = log
    .command('audit')
    .description(
      'who did what to what, and how it ended; asks the hub, for a person or administrator',
    )
    .option(...seconds('--since <time>', 'not older than this: 30m, 2h, 7d'))
    .option(...seconds('--until <time>', 'older than this'))
    .option('--actor <name>', 'only what it did')
    .option('--action <kind>', 'only this (gate.approved), or all of a noun (gate, token, refusal)')
    .option('--subject <name>', 'only what was done to it')
    .option('--outcome <word>', 'only what ended so: done, refused, a code');
  addPageFlags(command);
  handle<AuditFlags>(command, async ({ flags, call, show, remark, colours }) => {
    const { since, until, limit, after, actor, action, subject, outcome } = flags;
    const now = Date.now() / 1000;
    const answer = await call('audit.list', {
      ...{ actor, action, subject, outcome, limit, after },
      ...(since !== undefined && { since: now - since }),
      ...(until !== undefined && { until: now - until }),
    });
    show(answer, () => answer.deeds.map((deed) => deedText(deed, colours)));
    if (answer.deeds.length === 0) remark('nothing here');
    if (answer.next !== null) remark(`there is more: --after ${answer.next}`);
  });
}

function deedText(
  { at, position, action, actor, subject, outcome, detail }: Deed,
  colours: Colours,
): string {
  const more = Object.entries(detail).map(([name, value]) => `${name} ${value}`);
  return [
    colours.dim(clockTime(at)),
    colours.name(neutralise(actor)),
    action,
    ...(subject === null ? [] : [colours.place(neutralise(subject))]),
    ...(outcome === 'done' ? [] : [`→ ${neutralise(outcome)}`]),
    ...(more.length === 0 ? [] : [neutralise(`(${more.join(', ')})`)]),
    colours.dim(`[${position}]`),
  ].join(' ');
}
