/**
 * The settings of a stream that somebody else made, or changed: one that forgets by itself is not a log. What only
 * refuses when it is full is fine, since nothing acknowledged is lost by that [NL6].
 */
import type { StreamConfig } from '@nats-io/jetstream';
import { LogError } from '../log.ts';

const NS = 1e9;

/** `perSubject`: how many messages of a subject are enough; 0: all of them. */
export function requireKeeping(path: string, config: StreamConfig, perSubject: number): void {
  const flaw = flawOf(config, perSubject);
  if (flaw === null) return;
  throw new LogError(
    'log.durability',
    `the stream ${config.name} of ${path} ${flaw.what}; nothing was opened. ${flaw.remedy}, or use another prefix`,
    { path },
  );
}

interface Flaw {
  readonly what: string;
  readonly remedy: string;
}

function flawOf(config: StreamConfig, perSubject: number): Flaw | null {
  const { name, max_age: age, max_msgs: messages, max_bytes: bytes } = config;
  const edit = (flag: string): string => `Take that away: nats stream edit ${name} ${flag}`;
  if (config.sealed) return { what: 'is sealed and takes nothing', remedy: 'Restore it elsewhere' };
  if (config.retention !== 'limits')
    return {
      what: `drops what was read (retention ${config.retention})`,
      remedy: 'Make it anew with retention limits',
    };
  if (age > 0)
    return { what: `drops what is older than ${age / NS} s`, remedy: edit('--max-age=0') };
  const kept = config.max_msgs_per_subject;
  const isEnough = perSubject > 0 && kept >= perSubject;
  if (kept > 0 && !isEnough && config.discard_new_per_subject !== true)
    return {
      what: `keeps the last ${kept} of a subject and drops the rest`,
      remedy: edit(`--max-msgs-per-subject=${perSubject || -1}`),
    };
  if (config.discard === 'new') return null;
  if (messages > 0)
    return { what: `drops all but the last ${messages}`, remedy: edit('--max-msgs=-1') };
  if (bytes > 0)
    return { what: `drops all but the last ${bytes} bytes`, remedy: edit('--max-bytes=-1') };
  return null;
}
