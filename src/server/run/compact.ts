/**
 * One space's log compacted, offline: the world is built from it to see what nobody is owed any more,
 * old bodies are dropped, and the compaction is an entry like any other [RT1]. A hub that has it open keeps
 * the lock of the store, and this is refused.
 */
import { rm } from 'node:fs/promises';
import { createDropper } from '../../core/law/drop-body.ts';
import { encodeEvent } from '../../core/law/entry.ts';
import { rebuildWorld } from '../../hub/rebuild.ts';
import { type CompactionFacts, compactLog, measureCompaction } from '../../log/compact.ts';
import { hasPath, INDEX_ENDS, openLog } from './open-log.ts';
import { parseStoreUrl } from './store-url.ts';

export interface CompactOptions {
  /** For channels and spaces that have no retention of their own; null drops nothing there. */
  readonly olderThanMs: number | null;
  readonly isDryRun: boolean;
  readonly by: string;
  readonly at: number;
}

export async function compactSpace(url: string, options: CompactOptions): Promise<CompactionFacts> {
  const log = await openLog(url, { readOnly: options.isDryRun });
  try {
    const world = await rebuildWorld(log, () => {});
    const drop = createDropper(world, options.at, options.olderThanMs);
    if (options.isDryRun) return await measureCompaction(log, drop);
    // It knows the words of what goes; the hub makes it again from what stays.
    const index = parseStoreUrl(url);
    if (hasPath(index)) {
      for (const end of INDEX_ENDS) await rm(index.path + end, { force: true });
    }
    return await compactLog(log, drop, ({ bytesBefore: _, bytesAfter: __, ...facts }) =>
      encodeEvent({
        type: 'log.compacted',
        at: Math.max(options.at, world.at),
        by: options.by,
        facts,
      }),
    );
  } finally {
    await log.close();
  }
}
