/**
 * Settings: what an administrator lays down for a space and for one channel.
 * Bodies of a typed channel are checked against its schema before they are sent;
 * the version lets `message.send` notice that the schema moved meanwhile [T3].
 */
import { checkPerson } from '../gates/decider.ts';
import { type EndEvent, lapseGates } from '../gates/gate-end.ts';
import type { Came } from '../gates/gate-events.ts';
import { channelOf, checkChannelRoom, checkName } from '../talk/channel.ts';
import { armHeld } from '../talk/held.ts';
import { type Asked, type Decision, refuse } from './decider.ts';
import type { ChannelSettings, SpaceSettings, World, WorldView } from './state.ts';

export interface ConfigureSpace extends Asked {
  readonly type: 'space.configure';
  readonly change: Partial<SpaceSettings>;
  /** How the caller came; needed for what people decide by [GT4]. */
  readonly came?: Came;
}

export interface SpaceConfigured {
  readonly type: 'space.configured';
  readonly at: number;
  readonly by: string;
  readonly settings: SpaceSettings;
}

export interface ConfigureChannel extends Asked {
  readonly type: 'channel.configure';
  readonly channel: string;
  readonly change: Partial<Omit<ChannelSettings, 'schemaVersion'>>;
}

export interface ChannelConfigured {
  readonly type: 'channel.configured';
  readonly at: number;
  readonly by: string;
  readonly channel: string;
  readonly settings: ChannelSettings;
}

export const NO_SETTINGS: ChannelSettings = {
  schema: null,
  schemaVersion: 0,
  replayPolicy: 'subscriber',
  replayAllow: [],
  backpressureMode: null,
  queueLimit: null,
  messageRetentionMs: null,
  doesGateTier2: null,
};

export function decideConfigureSpace(
  world: WorldView,
  command: ConfigureSpace,
): Decision<SpaceConfigured | EndEvent, SpaceSettings> {
  const { by, at, change } = command;
  if (by.kind !== 'admin')
    return refuse('access.denied', 'only an administrator configures a space');
  const settings = { ...world.settings, ...change };
  if (JSON.stringify(settings) === JSON.stringify(world.settings)) {
    return { events: [], answer: settings };
  }
  const { gateProof, gateProofMs } = world.settings;
  const isProofChanged = gateProof !== settings.gateProof;
  if (isProofChanged || gateProofMs !== settings.gateProofMs) {
    const { credential = '', person = null } = command.came ?? {};
    const vouched = checkPerson(world, { by, credential, person });
    if (typeof vouched === 'object') return vouched;
  }
  const lapsed = isProofChanged
    ? lapseGates(
        world,
        at,
        ({ approvals }) => approvals.some(({ proof }) => proof === 'none'),
        'a decider has to prove to be a person since',
      )
    : [];
  return {
    events: [{ type: 'space.configured', at, by: by.id, settings }, ...lapsed],
    answer: settings,
  };
}

export function decideConfigureChannel(
  world: WorldView,
  command: ConfigureChannel,
): Decision<ChannelConfigured, ChannelSettings> {
  const { by, at, channel, change } = command;
  if (by.kind !== 'admin')
    return refuse('access.denied', 'only an administrator configures a channel');
  const badName = checkName(world, channel);
  if (badName !== null) return badName;
  const known = world.channels.get(channel);
  const noRoom = checkChannelRoom(world, by, channel);
  if (noRoom !== null) return noRoom;
  const before = known?.settings ?? NO_SETTINGS;
  const merged = { ...before, ...change };
  const isNewSchema = merged.schema !== before.schema;
  const settings = isNewSchema ? { ...merged, schemaVersion: before.schemaVersion + 1 } : merged;
  if (JSON.stringify(settings) === JSON.stringify(before) && known?.settings != null) {
    return { events: [], answer: settings };
  }
  return {
    events: [{ type: 'channel.configured', at, by: by.id, channel, settings }],
    answer: settings,
  };
}

export function evolveSettings(world: World, event: SpaceConfigured | ChannelConfigured): void {
  if (event.type === 'space.configured') {
    world.settings = event.settings;
    armHeld(world);
  } else channelOf(world, event.channel, event.by).settings = event.settings;
}
