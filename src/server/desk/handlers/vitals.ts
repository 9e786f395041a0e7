/** How the hub is doing. Where nothing measures, as in a replayed past, only what the hub itself knows is told. */
import type { Hub } from '../../../hub/hub.ts';
import type { Handlers } from '../room.ts';
import type { VitalsReading } from '../vitals-window.ts';

export const vitalsHandlers: Handlers<'hub.vitals'> = {
  async 'hub.vitals'({ hub, platform, about }, { since = 0 }) {
    const reading = (await platform.vitals?.read(hub, since * 1000)) ?? unmeasured(hub);
    return { ...reading, uptime_s: (platform.elapsedMs() - about.startedAt) / 1000 };
  },
};

function unmeasured({ stats, isAvailable }: Hub): VitalsReading {
  const { queued, feeds, entries } = stats;
  return {
    beat_ms: 0,
    samples: [],
    now: { queued, feeds, connections: {} },
    slow_readers: { total: 0, last: [] },
    store: { ok: isAvailable, kind: 'unknown', entries, bytes: null },
    bus: null,
  };
}
