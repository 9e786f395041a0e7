/** The threads of a channel, by their root: so that a row can say how many answered, and how it stands. */
import { useMemo } from 'react';
import type { CallOutput } from '../../../client/index.ts';
import { useAsk } from '../../store/use-store.ts';

export type Headline = CallOutput<'threads.list'>['threads'][number];

const SHOWN = 100;

export function useHeadlines(channel: string): ReadonlyMap<string, Headline> {
  const { value } = useAsk('threads.list', { channel, limit: SHOWN }, ['messages']);
  return useMemo(() => new Map(value?.threads.map((one) => [one.message_id, one])), [value]);
}
