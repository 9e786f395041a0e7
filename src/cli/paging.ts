/** Lists that the hub hands out a page at a time: the flags for it, and the remark that there is more. */
import type { Command } from 'commander';
import { parseWhole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

export interface PageFlags {
  readonly limit?: string;
  readonly after?: string;
}

export function addPageFlags(command: Command): Command {
  return command
    .option('--limit <n>', 'at most so many rows')
    .option('--after <row>', 'go on behind this one, as the page before said');
}

export function pageOf({ limit, after }: PageFlags): {
  limit: number | undefined;
  after: string | undefined;
} {
  return { limit: limit === undefined ? undefined : parseWhole(limit, '--limit'), after };
}

export function remarkMore(next: unknown, remark: (line: string) => void): void {
  if (typeof next === 'string' || typeof next === 'number') {
    remark(`there is more: --after ${neutralise(String(next))}`);
  }
}
