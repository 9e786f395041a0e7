/** How the hub is doing, as the desk shows it: what was measured lately, where something measures. */
import type { Hub } from '../../hub/hub.ts';
import type { OutputOf } from '../../wire/operation.ts';
import type { hubVitals } from '../../wire/operations/vitals.ts';

export type VitalsReading = Omit<OutputOf<typeof hubVitals>, 'uptime_s'>;

export interface VitalsWindow {
  /** Samples after `since`, milliseconds since the epoch, and what is so now. */
  read(hub: Hub, since: number): Promise<VitalsReading>;
}
