/** What agents were handed, against what the channel holds: each message once, in its order, and none kept from them. */
import { type ActOf, type Done, describe, type History, isOf, type Told } from './history.ts';

type Got = Done<ActOf<'recv' | 'feed'>>;

export function checkReaders({ done, readings }: History): string[] {
  const broken: string[] = [];
  const all = done.filter((one) => isOf(one, 'recv', 'feed')) as Got[];
  const readers = Map.groupBy(all, ({ by, act }) => JSON.stringify([by, act.op, act.channel]));
  for (const got of readers.values()) {
    const { channel } = (got[0] as Got).act;
    const reading = readings.find((one) => one.channel === channel);
    const isLeased = got.some(({ act }) => act.op === 'recv' && act.isLeased);
    // What is leased and not acknowledged comes again, later: that is what it is for.
    if (!isLeased) broken.push(...checkHanded(got));
    if (reading === undefined) continue;
    broken.push(...checkTrue(got, reading.messages));
    broken.push(...checkWhole(got, reading.messages));
  }
  return broken;
}

function checkHanded(all: readonly Got[]): string[] {
  const broken: string[] = [];
  const seen = new Map<string, Got>();
  let last: { readonly told: Told; readonly one: Got } | null = null;
  for (const one of [...all].sort((a, b) => a.from - b.from)) {
    for (const told of one.act.got) {
      const known = seen.get(told.text);
      seen.set(told.text, one);
      if (known !== undefined)
        broken.push(
          `twice: "${told.text}" was handed out by ${describe(known)} and ${describe(one)}`,
        );
      else if (last !== null && told.seq < last.told.seq)
        broken.push(
          `order: ${describe(one)} has "${told.text}" (${told.seq}) after "${last.told.text}" (${last.told.seq}) of ${describe(last.one)}`,
        );
      last = { told, one };
    }
  }
  return broken;
}

function checkTrue(all: readonly Got[], messages: readonly Told[]): string[] {
  const places = new Map(messages.map(({ text, seq }) => [text, seq]));
  return all.flatMap((one) =>
    one.act.got
      .filter(({ text, seq }) => places.get(text) !== seq)
      .map(({ text, seq }) => {
        const place = places.get(text);
        const there = place === undefined ? 'is not there' : `is ${place}`;
        return `${place === undefined ? 'lost' : 'moved'}: "${text}", handed out as ${seq} by ${describe(one)}, ${there}`;
      }),
  );
}

/** What was not handed out can only have been on its way in an answer that was lost. */
function checkWhole(all: readonly Got[], messages: readonly Told[]): string[] {
  const got = new Set(all.flatMap(({ act }) => act.got.map(({ text }) => text)));
  const missing = messages.filter(({ text }) => !got.has(text));
  const lost = all.filter(
    ({ act, outcome }) => act.op === 'recv' && !act.isLeased && outcome === 'unknown',
  );
  const room = lost.reduce((sum, { act }) => sum + (act.op === 'recv' ? act.max : 0), 0);
  const [first] = missing;
  if (missing.length <= room || first === undefined) return [];
  const { by, act } = all[0] as Got;
  const answers = lost.length === 1 ? 'one answer' : `${lost.length} answers`;
  return [
    `kept back: ${missing.length} of ${act.channel} never reached ${by} by ${act.op}, the first "${first.text}" (${first.seq}), and ${answers} to it were lost`,
  ];
}
