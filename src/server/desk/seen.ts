/** What the doors of one server see of an agent, as the others are told it, and what all of them see together [SQ13]. */
import type { Seen, SeenHook } from '../../hub/whisper.ts';

/** What the hooks of its harness tell: of what it works on, or what it asks a person. */
export interface Hooked extends SeenHook {
  /** Whether the session is still there to be doing it. */
  isLive(): boolean;
}

/** As it is seen at one server, or at all of them together. */
export type ActivityView = Omit<Seen, 'hooked'> & { readonly hooked: Hooked | null };

/** Of what a person would read in full at the server itself. */
const NOTE_CHARS_MAX = 1_024;

export function seenOf(activity: ActivityView): Seen {
  const { reported, hooked } = activity;
  return {
    home: activity.home,
    connections: activity.connections,
    connectedAt: activity.connectedAt,
    disconnectedAt: activity.disconnectedAt,
    lastCallAt: activity.lastCallAt,
    lastOperation: activity.lastOperation,
    lastDrainAt: activity.lastDrainAt,
    process: activity.process,
    reported: reported && { ...reported, note: short(reported.note) },
    hooked: hooked?.isLive()
      ? { ...{ state: hooked.state, since: hooked.since, at: hooked.at }, note: short(hooked.note) }
      : null,
  };
}

/** The newest of each; connections are added up. */
export function mergeSeen(here: ActivityView | undefined, there: readonly Seen[]): ActivityView {
  const others = there.map((seen) => ({
    ...seen,
    // Its server looks whether it is, and says so.
    hooked: seen.hooked && { ...seen.hooked, isLive: () => true },
  }));
  const all: ActivityView[] = here === undefined ? others : [here, ...others];
  const called = newest(all, (one) => one.lastCallAt);
  const open = all.filter(({ connections }) => connections > 0);
  return {
    home: all.find(({ home }) => home !== null)?.home ?? null,
    connections: open.reduce((sum, { connections }) => sum + connections, 0),
    // It has been connected since the first of those that are open.
    connectedAt:
      open.length > 0
        ? Math.min(...open.map(({ connectedAt }) => connectedAt))
        : Math.max(...all.map(({ connectedAt }) => connectedAt)),
    disconnectedAt: Math.max(...all.map(({ disconnectedAt }) => disconnectedAt)),
    lastCallAt: called.lastCallAt,
    lastOperation: called.lastOperation,
    lastDrainAt: Math.max(...all.map(({ lastDrainAt }) => lastDrainAt)),
    process: newest(all, (one) => (one.process === null ? -1 : one.lastCallAt)).process,
    reported: newest(all, (one) => one.reported?.saidAt ?? -1).reported,
    hooked: newest(all, (one) => (one.hooked?.isLive() ? one.hooked.at : -1)).hooked,
  };
}

function newest(all: readonly ActivityView[], at: (one: ActivityView) => number): ActivityView {
  return all.reduce((best, one) => (at(one) > at(best) ? one : best));
}

function short(note: string | null): string | null {
  return note === null ? null : note.slice(0, NOTE_CHARS_MAX);
}
