/** Lays the configuration of a server down in a space; what is so already leaves no trace in the log. */
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { SpaceSettings } from '../../core/law/state.ts';
import type { Hub } from '../../hub/hub.ts';
import { LogError } from '../../log/log.ts';

export interface LaidDown {
  readonly settings: Partial<SpaceSettings>;
  /** JSON Schemas by channel, laid down in every space; given, even empty, only these channels exist. */
  readonly typedChannels: Readonly<Record<string, unknown>> | null;
}

export async function layDown(hub: Hub, { settings, typedChannels }: LaidDown): Promise<void> {
  const typed = Object.entries(typedChannels ?? {});
  for (const [channel, schema] of typed) {
    await taken(
      hub.submit({
        type: 'channel.configure',
        by: SERVER,
        at: hub.stamp(),
        channel,
        change: { schema: JSON.stringify(schema) },
      }),
    );
  }
  const change = typedChannels === null ? settings : { ...settings, isTypedOnly: true };
  if (Object.keys(change).length === 0) return;
  await taken(hub.submit({ type: 'space.configure', by: SERVER, at: hub.stamp(), change }));
}

/** A hub must not run under other rules than its operator wrote down. */
async function taken(answer: Promise<object | Refusal>): Promise<void> {
  const outcome = await answer;
  if (isRefusal(outcome)) {
    throw new LogError('log.unavailable', `the configuration was not taken: ${outcome.message}`);
  }
}
