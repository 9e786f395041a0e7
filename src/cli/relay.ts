/**
 * `synod relay`: what is new in a relay file, without asking the hub. The cursor is the position that
 * every line carries, so trimming the file loses nothing that is still in it, and repeats nothing.
 * A last line that is not whole yet is left for the next time [CL14].
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { readJson } from '../core/law/json.ts';
import { handle } from './context.ts';
import { readCursor, saveCursor } from './cursor-file.ts';
import { fail } from './failure.ts';
import { writeOut } from './ingest.ts';
import { clockTime } from './message-text.ts';
import { whole } from './parse-value.ts';
import { jsonText, neutralise } from './terminal.ts';

interface RelayFlags {
  readonly since?: number;
  readonly cursor?: string;
  readonly for?: string;
  readonly project?: string;
}

/** Before the first position there is. */
const NOTHING = -1;
/** The line that says where a file begins. */
const START = 'relay.start';
const LINES_MAX = 1_000_000;

/** A line of the file. */
interface RelayLine {
  readonly n: number;
  readonly ty: string;
  readonly s: string;
  readonly to: string;
  readonly p: unknown;
  readonly t: number;
}

export function registerRelay(program: Command): void {
  const command = program
    .command('relay')
    .description('what is new in a relay file; asks no hub')
    .argument('<file>')
    .option(...whole('--since <n>', 'start behind this position'))
    .option('--cursor <file>', 'start where this file says, and save there how far it came')
    .option('--for <name>', 'only what others say in its channels or with its name in it')
    .option('--project <name>', 'only what is in its channels or said by its agents');
  handle<RelayFlags>(command, async ({ args, flags, isJson, remark }) => {
    if (flags.since !== undefined && flags.cursor !== undefined) {
      throw fail('cli.usage', 'either --since or --cursor, not both');
    }
    const start = flags.cursor === undefined ? NOTHING : readCursor(flags.cursor, NOTHING);
    const since = flags.since ?? start;
    const { lines, broken } = await readLines(args[0] ?? '');
    const last = lines.at(-1)?.n ?? NOTHING;
    // Trimming keeps the end, so a file that ends before the cursor has begun anew.
    const isAnew = flags.cursor !== undefined && lines.length > 0 && last < start;
    if (isAnew) remark('the file is of another log than the cursor; shown from its beginning');
    const shown = lines.filter(
      (line) => line.ty !== START && line.n > (isAnew ? NOTHING : since) && isWanted(line, flags),
    );
    await writeOut(shown.map((line) => `${isJson ? jsonText(line) : lineText(line)}\n`).join(''));
    if (flags.cursor !== undefined && (isAnew || last > start)) {
      saveCursor(flags.cursor, Math.max(last, 0));
    }
    if (broken > 0) remark(`${broken} lines are no lines of a relay file; left out`);
  });
}

/** A relay file is bounded by the hub that writes it; anything much larger is none. */
async function readLines(path: string): Promise<{ lines: RelayLine[]; broken: number }> {
  const lines: RelayLine[] = [];
  let broken = 0;
  for await (const text of wholeLines(path)) {
    const line = parseLine(text);
    if (line === null) broken++;
    else lines.push(line);
    if (lines.length + broken > LINES_MAX) {
      throw fail('cli.no-input', `${path} has more than ${LINES_MAX} lines: it is no relay file`);
    }
  }
  return { lines, broken };
}

/** Without the last one, when nothing ends it. */
async function* wholeLines(path: string): AsyncGenerator<string> {
  const source = createReadStream(path, 'utf8');
  let isEnded = true;
  source.on('data', (chunk) => {
    isEnded = chunk.at(-1) === '\n';
  });
  let before: string | null = null;
  try {
    for await (const line of createInterface({ input: source })) {
      if (before !== null) yield before;
      before = line;
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw fail('cli.no-input', `${path} cannot be read (${code ?? 'unknown'})`, {
      hint: 'the hub writes one with: synod serve --relay FILE',
      cause,
    });
  }
  if (before !== null && isEnded) yield before;
}

function parseLine(text: string): RelayLine | null {
  try {
    const line = readJson(text) as RelayLine | null;
    const isLine = Number.isSafeInteger(line?.n) && typeof line?.to === 'string';
    return isLine && typeof line.s === 'string' ? line : null;
  } catch {
    // Counted by the caller.
    return null;
  }
}

/**
 * Only what is public comes here, so it is addressed by the channel it is in, or by naming somebody
 * in the text; what one said oneself is no news.
 */
function isWanted({ to, s, p }: RelayLine, { for: name, project }: RelayFlags): boolean {
  const isBelow = (owner: string) => to === owner || to.startsWith(`${owner}/`);
  if (name !== undefined) {
    const [own = ''] = name.split('/');
    if (s === name || !(to === 'all' || isBelow(own) || isBelow(name) || doesName(p, name))) {
      return false;
    }
  }
  return project === undefined || to === 'all' || isBelow(project) || s.startsWith(`${project}/`);
}

function doesName(text: unknown, name: string): boolean {
  return String(text)
    .split(/[\s,;:!?()"'@]+/)
    .some((word) => word.replace(/\.$/, '') === name);
}

function lineText({ n, t, to, s, p }: RelayLine): string {
  const text = typeof p === 'string' ? p : jsonText(p);
  return neutralise(`${clockTime(t / 1000)} ${to} ${s}: ${text} [${n}]`);
}
