/**
 * A turn that runs is heard of: when its process began, and by what it says. Output comes by the line,
 * and a lease lasts for minutes, so the law hears of it once in a while.
 */
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { Cost } from '../../core/turns/turn-state.ts';
import type { Hub } from '../../hub/hub.ts';
import type { TurnCost } from './runner.ts';

const RENEW_EVERY_MS = 1_000;
/** A turn without a process says by then that it runs; most have ended before. */
const FIRST_RENEW_MS = 2_000;

export interface Renewal {
  begin(transcript: string): void;
  started(pid: number): void;
  /** It said something. */
  sign(): void;
  /** It has cost so much. */
  spent(cost: TurnCost): void;
  end(): void;
}

export function createRenewal(
  hub: Hub,
  id: string,
  epoch: number,
  onSpent: (why: string) => void,
): Renewal {
  let path: string | null = null;
  let nextAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let cost: Cost | null = null;

  function renew(pid: number | null): void {
    if (isOver) return;
    nextAt = performance.now() + RENEW_EVERY_MS;
    clearTimeout(timer);
    hub.submitThen(
      {
        ...{ type: 'turn.renew', by: SERVER, at: hub.stamp(), id, epoch, pid },
        ...{ leaseMs: null, transcript: path, cost },
      },
      // That this run of it is over is told by the event that ended it; a spent budget is told here.
      (answer) => {
        if (isRefusal(answer) && answer.refused === 'budget.exhausted') onSpent(answer.message);
      },
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
    spent({ usd = 0, tokens_in: tokensIn = 0, tokens_out: tokensOut = 0 }) {
      cost = { usd, tokensIn, tokensOut };
      renew(null);
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
