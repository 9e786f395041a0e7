/** The record, as the machine that keeps it knows it; where none is kept, the log alone is told. */
import type { HeadView } from '../record-view.ts';
import type { Handlers } from '../room.ts';

export const recordHeadHandlers: Handlers<'record.head'> = {
  async 'record.head'({ hub, platform, caller }) {
    const view = platform.record?.(caller.space) ?? null;
    if (view === null) {
      const { entries } = hub.stats;
      return { length: entries, head: hub.head, signed: null, anchor: null, verified: null };
    }
    const { length, head, signed, anchor, verification } = view;
    return {
      ...{ length, head, signed: signed && headOutput(signed) },
      anchor: anchor && { ...headOutput(anchor), way: anchor.way },
      verified: verification && { ...verification, at: verification.at / 1000 },
    };
  },
};

function headOutput({ position, head, at, key }: HeadView) {
  return { position, head, at: Date.parse(at) / 1000, key };
}
