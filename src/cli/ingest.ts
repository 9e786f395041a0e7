/**
 * `synod ingest`: findings, recalls, checkpoints and hand-offs as NDJSON, oldest first, for a memory
 * outside. The cursor file is saved after a page was written out: what is interrupted is repeated,
 * and never lost [CL13].
 */
import { once } from 'node:events';
import type { Command } from 'commander';
import { collect, handle } from './context.ts';
import { readCursor, saveCursor } from './cursor-file.ts';
import { fail } from './failure.ts';
import { whole } from './parse-value.ts';
import { jsonText } from './terminal.ts';

interface IngestFlags {
  readonly since?: number;
  readonly cursor?: string;
  readonly kind?: readonly string[];
}

const PAGE = 500;

export function registerIngest(program: Command): void {
  const command = program
    .command('ingest')
    .description('findings and other memory events as NDJSON, from a cursor')
    .option(...whole('--since <n>', 'start here, as the last run said (0)'))
    .option('--cursor <file>', 'start where this file says, and save there how far it came')
    .option('--kind <kind>', 'finding, recall, checkpoint or handoff; may be repeated', collect);
  handle<IngestFlags>(command, async ({ flags, call, remark }) => {
    if (flags.since !== undefined && flags.cursor !== undefined) {
      throw fail('cli.usage', 'either --since or --cursor, not both');
    }
    let since = flags.since ?? (flags.cursor === undefined ? 0 : readCursor(flags.cursor, 0));
    let count = 0;
    for (;;) {
      const page = await call('findings.list', { since, kinds: flags.kind, limit: PAGE });
      await writeOut(page.events.map((event) => `${jsonText(event)}\n`).join(''));
      count += page.events.length;
      const isStuck = page.next <= since;
      since = Math.max(since, page.next);
      if (flags.cursor !== undefined) saveCursor(flags.cursor, since);
      if (!page.has_more || isStuck) break;
    }
    remark(`${count} events; go on with: --since ${since}`);
  });
}

/** Resolves when it has left this process. */
export async function writeOut(text: string): Promise<void> {
  if (text === '') return;
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
