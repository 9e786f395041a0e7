/**
 * A turn that runs is heard of: when its process began, and by what it says. Output comes by the line,
 * and a lease lasts for minutes, so the law hears of it once in a while.
 */
import { SERVER } from '../../core/law/principal.ts';
import type { Hub } from '../../hub/hub.ts';

const RENEW_EVERY_MS = 1_000;
/** A turn without a process says by then that it runs; most have ended before. */
const FIRST_RENEW_MS = 2_000;

export interface Renewal {
  begin(transcript: string): void;
  started(pid: number): void;
  /** It said something. */
  sign(): void;
  end(): void;
}

export function createRenewal(hub: Hub, id: string, epoch: number): Renewal {
  let path: string | null = null;
  let nextAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function renew(pid: number | null): void {
    if (isOver) return;
    nextAt = performance.now() + RENEW_EVERY_MS;
    clearTimeout(timer);
    hub.submitThen(
      {
        ...{ type: 'turn.renew', by: SERVER, at: hub.stamp(), id, epoch, pid },
        ...{ leaseMs: null, transcript: path, cost: null },
      },
      // That this run of it is over is told by the event that ended it.
      () => {},
    );
  }

  return {
    begin(transcript) {
      path = transcript;
      timer = setTimeout(() => renew(null), FIRST_RENEW_MS).unref();
    },
    started: renew,
    sign() {
      if (performance.now() >= nextAt) renew(null);
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
