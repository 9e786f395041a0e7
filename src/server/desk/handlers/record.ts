/** Looking back: what is asked of the past is looked at here, and looked up where the platform keeps it. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Operation, OutputOf } from '../../../wire/operation.ts';
import type { recordAt } from '../../../wire/operations/record.ts';
import { outputFromText, outputText } from '../output-text.ts';
import type { Past, PastAnswer, PastCaller } from '../past.ts';
import { checkStillOpen, findPastOperation } from '../past-rules.ts';
import type { Handlers, Room } from '../room.ts';

export const recordHandlers: Handlers<'record.at' | 'record.span'> = {
  async 'record.at'(room, { position, time, operation: name, input = {} }) {
    if (position !== undefined && time !== undefined) return twoMoments();
    const operation = findPastOperation(name);
    if ('refused' in operation) return operation;
    const past = pastOf(room);
    if (isRefusal(past)) return past;
    const moment = { position: position ?? null, time: toMs(time) };
    const { id } = operation;
    let found: PastAnswer | null = null;
    // Access, input, plugins: what stands around the operation now stands around it here [PA4].
    const answer = await room.instead(operation, input, async (acting, asked) => {
      const who = callerOf(acting);
      const closed = await room.hub.ask((world) =>
        checkStillOpen(world, acting.principal, id, asked),
      );
      if (closed !== null) return closed;
      const then = await past.at(who, moment, { operation: id, input: asked }, room.signal);
      if (isRefusal(then)) return then;
      found = then;
      return outputFromText<Record<string, unknown>>(then.text, fieldsOf(operation));
    });
    if (isRefusal(answer)) return answer;
    const then = found as PastAnswer | null;
    if (then === null) {
      return refuse(
        'plugin.refused',
        `a plugin answered in the place of ${id}; it may only refuse`,
      );
    }
    const at = then.at === 0 ? null : then.at / 1000;
    const head = JSON.stringify({ position: then.position, at, operation: id }).slice(0, -1);
    const text = `${head},"answer":${outputText(answer)}}`;
    return outputFromText<OutputOf<typeof recordAt>>(text, [
      'position',
      'at',
      'operation',
      'answer',
    ]);
  },

  async 'record.span'(room, { buckets, from, to }) {
    const past = pastOf(room);
    if (isRefusal(past)) return past;
    const asked = { buckets, from: toMs(from), to: toMs(to) };
    const span = await past.span(callerOf(room.caller), asked, room.signal);
    if (isRefusal(span)) return span;
    const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
    return {
      length: span.length,
      ...{ first: seconds(span.first), last: seconds(span.last) },
      ...{ from: seconds(span.from), to: seconds(span.to) },
      ...{ entries: [...span.entries], positions: [...span.positions] },
    };
  },
};

function pastOf({ platform: { past } }: Room): Past | Refusal {
  return past ?? refuse('record.operation', 'this hub cannot look back');
}

function callerOf({ principal, space, isOwner }: Room['caller']): PastCaller {
  return { principal, space, isOwner };
}

function toMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1000;
}

function fieldsOf({ output }: Operation): string[] {
  return 'shape' in output ? Object.keys(output.shape as object) : [];
}

function twoMoments(): Refusal {
  const issue = 'is said already: name a position or a time';
  return refuse('input.invalid', `record_at: time ${issue}`, {
    violations: [{ field: 'time', issue }],
  });
}
