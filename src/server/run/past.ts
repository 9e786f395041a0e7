/** Looking back into the logs of the spaces that are open; the thread is started when somebody does. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Refusal } from '../../core/law/decider.ts';
import { type OpenPast, openPast } from '../record/open-past.ts';
import { hasPath, logUrlOf } from './open-log.ts';
import type { OpenSpaces } from './spaces.ts';
import { parseStoreUrl } from './store-url.ts';

/** The heap of the thread; one that needs more is ended, and the hub goes on. */
const HEAP_MB = 2_048;

export interface HubPastOptions {
  readonly store: string | null;
  readonly dir: string;
  readonly spaces: OpenSpaces;
  report(what: string, cause: unknown): Refusal;
}

export function openHubPast({ store, dir, spaces, report }: HubPastOptions): OpenPast {
  const past = openPast({
    start() {
      const file = new URL(`./past-thread${extname(import.meta.url)}`, import.meta.url);
      return new Worker(file, {
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      });
    },
    hubOf: (space) => spaces.find(space),
    urlOf: (space) => {
      const url = logUrlOf(store, dir, space);
      const place = parseStoreUrl(url);
      return hasPath(place) || place?.kind === 'nats' ? url : null;
    },
    report,
    now: Date.now,
  });
  const stop = spaces.onRemoved((name) => past.forget(name));
  return {
    ...past,
    close() {
      stop();
      return past.close();
    },
  };
}
