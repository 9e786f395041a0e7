/** What a run did, in a few lines. */
import type { Run } from './run.ts';

export function summaryOf({ history, silenceS }: Run): string[] {
  const acts = Map.groupBy(history.done, ({ act }) => act.op);
  const rows = [...acts].map(([op, done]) => {
    const count = (outcome: string): number => done.filter((one) => one.outcome === outcome).length;
    return `${op} ${count('ok')}/${count('fail')}/${count('unknown')}`;
  });
  const stored = new Map(history.readings.map((one) => [one.channel, one.messages.length]));
  return [
    `acts (done/refused/unknown): ${rows.join(', ')}`,
    `messages stored: ${[...stored].map(([channel, count]) => `${channel} ${count}`).join(', ')}`,
    `faults: ${history.faults?.length ?? 0}; longest time without an acknowledged act: ${silenceS.toFixed(1)} s`,
  ];
}
