/** What is known of the channels: what each is for, whether one follows it, and what is unread there. */
import { useMemo } from 'react';
import type { CallOutput } from '../../../client/index.ts';
import type { Asked } from '../../store/asks.ts';
import { useAsk } from '../../store/use-store.ts';

type Channels = CallOutput<'channels.list_channels'>;
export type Channel = Channels['channels'][number];

export function useChannels(): Asked<Channels> {
  return useAsk('channels.list_channels', { details: true }, ['channels', 'messages', 'receipts']);
}

/** Undefined when nobody uses it yet. */
export function useChannel(name: string): Channel | undefined {
  const { value } = useChannels();
  return useMemo(() => value?.channels.find((one) => one.name === name), [value, name]);
}
