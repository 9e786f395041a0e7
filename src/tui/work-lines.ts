/** What is held, waited for and planned, below the agents where a tall window has room for it. */
import { spanText } from './clock.ts';
import { EMPTY, line, type ScreenLine, span, spread } from './spans.ts';
import type { ChatState, TaskRow } from './state.ts';

/** An empty line, a title and one row: with less there is nothing to see. */
const SECTION_ROWS_MIN = 3;
const STATUS_MARKS: Partial<Record<TaskRow['status'], string>> = {
  in_progress: '●',
  blocked: '!',
};

export function workLines(state: ChatState, width: number, rows: number): ScreenLine[] {
  const sections = [claimSection, queueSection, planSection]
    .map((section) => section(state, width))
    .filter(({ lines }) => lines.length > 0);
  const shown: ScreenLine[] = [];
  for (const [at, { title, lines }] of sections.entries()) {
    // Each that follows keeps the least it needs.
    const room = rows - shown.length - (sections.length - at - 1) * SECTION_ROWS_MIN;
    if (room < SECTION_ROWS_MIN) continue;
    const all = lines.length <= room - 2;
    const kept = all ? lines : lines.slice(0, room - 3);
    const more = line(`  and ${lines.length - kept.length} more`, { dim: true });
    shown.push(EMPTY, title, ...kept, ...(all ? [] : [more]));
  }
  return shown;
}

interface Section {
  readonly title: ScreenLine;
  readonly lines: readonly ScreenLine[];
}

function titled(
  title: string,
  aside: string,
  lines: readonly ScreenLine[],
  width: number,
): Section {
  const right = [span(aside, { dim: true })];
  return { title: spread([span(title, { bold: true })], right, width), lines };
}

function claimSection({ claims, colours, now }: ChatState, width: number): Section {
  const lines = claims.map(({ task_id: task, owner, lease_expires_at: until }) =>
    spread(
      [span(`  ${task}`)],
      [
        span(owner, { colour: colours.get(owner) }),
        span(` ${spanText(Math.max(0, until - now))}`, { dim: true }),
      ],
      width,
    ),
  );
  return titled('Claims', String(claims.length), lines, width);
}

function queueSection({ waits, colours, now }: ChatState, width: number): Section {
  const lines = waits.map(({ task_id: task, agent_id: agent, since, reserved }) =>
    spread(
      [span(`  ${task ?? 'files'}`)],
      [
        span(agent, { colour: colours.get(agent) }),
        span(reserved ? ' its turn' : ` ${spanText(now - since)}`, { dim: true }),
      ],
      width,
    ),
  );
  return titled('Queue', `${waits.length} wait`, lines, width);
}

function planSection({ tasks }: ChatState, width: number): Section {
  const open = tasks.filter(({ status }) => status !== 'done' && status !== 'cancelled');
  const lines = open.map(({ task_id: task, status, ready, claim }) =>
    spread(
      [span(`${STATUS_MARKS[status] ?? ' '} ${task}`)],
      [span(claim?.owner ?? (ready ? 'ready' : status), { dim: true })],
      width,
    ),
  );
  return titled('Plan', `${open.length} open`, lines, width);
}
