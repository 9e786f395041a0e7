/** What was sent, against what every server tells when all is over. */

import { type ActOf, type Done, describe, type History, isOf, type Reading } from './history.ts';
import { firstOvertaken } from './overtaken.ts';

export function checkMessages({ done, readings }: History): string[] {
  const broken: string[] = [];
  const sends = done.filter((one) => isOf(one, 'send')) as Done<ActOf<'send'>>[];
  const bySent = new Map(sends.map((one) => [one.act.text, one]));
  for (const [channel, told] of Map.groupBy(readings, (one) => one.channel)) {
    broken.push(...checkAlike(told));
    for (const one of told) broken.push(...checkOnce(one, bySent));
    const [first] = told;
    const mine = sends.filter(({ act }) => act.channel === channel);
    if (first !== undefined) broken.push(...checkOrder(first, mine));
  }
  for (const one of sends) {
    for (const reading of readings.filter(({ channel }) => channel === one.act.channel)) {
      const found = reading.messages.find(({ text }) => text === one.act.text);
      const there = `at ${reading.server}`;
      if (one.outcome === 'ok' && found === undefined)
        broken.push(`lost: ${describe(one)} is not there ${there}`);
      else if (one.outcome === 'ok' && found?.seq !== one.act.seq)
        broken.push(`moved: ${describe(one)} is ${found?.seq} ${there}`);
      else if (one.outcome === 'fail' && found !== undefined)
        broken.push(`kept: ${describe(one)} is there ${there} as ${found.seq}`);
    }
  }
  return broken;
}

function checkAlike(told: readonly Reading[]): string[] {
  const [first, ...others] = told;
  if (first === undefined) return [];
  return others.flatMap((other) => {
    const length = Math.max(first.messages.length, other.messages.length);
    for (let i = 0; i < length; i++) {
      const [a, b] = [first.messages[i], other.messages[i]];
      if (a?.text === b?.text && a?.seq === b?.seq) continue;
      const show = (one: typeof a): string => (one ? `"${one.text}" as ${one.seq}` : 'nothing');
      return [
        `order: ${first.channel} goes on with ${show(a)} at ${first.server} and with ${show(b)} at ${other.server}`,
      ];
    }
    return [];
  });
}

function checkOnce(
  { server, channel, messages }: Reading,
  sent: ReadonlyMap<string, Done<ActOf<'send'>>>,
): string[] {
  const broken: string[] = [];
  const seen = new Map<string, number>();
  for (const [i, { text, seq }] of messages.entries()) {
    const known = seen.get(text);
    seen.set(text, seq);
    const one = sent.get(text);
    if (one === undefined)
      broken.push(`made up: "${text}" in ${channel} at ${server} was never sent`);
    else if (known !== undefined)
      broken.push(`twice: ${describe(one)} is there at ${server} as ${known} and as ${seq}`);
    const before = messages[i - 1];
    if (before !== undefined && seq !== before.seq + 1)
      broken.push(
        `gap: ${channel} at ${server} has ${seq} ("${text}") behind ${before.seq} ("${before.text}")`,
      );
  }
  return broken;
}

/** What was acknowledged before another was sent comes before it. */
function checkOrder({ messages }: Reading, sends: readonly Done<ActOf<'send'>>[]): string[] {
  const places = new Map(messages.map(({ text, seq }) => [text, seq]));
  const late = firstOvertaken(
    sends.flatMap((one) => {
      const number = places.get(one.act.text);
      const to = one.outcome === 'ok' ? one.to : null;
      return number === undefined ? [] : [{ one, number, from: one.from, to }];
    }),
  );
  if (late === null) return [];
  return [`order: ${describe(late[1])} comes before ${describe(late[0])}`];
}
