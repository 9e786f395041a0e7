/** Subscribing, listing, presence, replay and a channel's settings. */

import { isRefusal, refuse } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import type { ChannelSettings, ChannelView, WorldView } from '../../../core/law/state.ts';
import { checkRead, checkReplay } from '../../../core/talk/channel.ts';
import { owedCount } from '../../../core/talk/subscription.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import type { listChannels, replay } from '../../../wire/operations/channels.ts';
import { ANY_POST } from '../../../wire/post.ts';
import { SOX_PROTOCOL_VERSION } from '../../../wire/sox.ts';
import { bodyText } from '../body.ts';
import { envelopeFieldsText, standingFieldsText } from '../envelope.ts';
import { idempotencyOf } from '../idempotency.ts';
import { ANSWER_BYTES_MAX, fitting, readSome } from '../message-page.ts';
import { outputFromText } from '../output-text.ts';
import { checkedFor } from '../platform.ts';
import { createReadersText } from '../readers-text.ts';
import type { Handlers, Room } from '../room.ts';
import { handleRecv, readersOf } from './recv.ts';
import { handleSend } from './send.ts';

export const channelHandlers: Handlers<
  | 'channels.send'
  | 'channels.recv'
  | 'channels.subscribe'
  | 'channels.unsubscribe'
  | 'channels.list_channels'
  | 'channels.list_agents'
  | 'channels.heartbeat'
  | 'channels.replay'
  | 'channels.configure'
  | 'channels.retire'
> = {
  'channels.send': handleSend,
  'channels.recv': handleRecv,

  async 'channels.subscribe'({ hub, by }, { pattern }) {
    const answer = await hub.submit({ type: 'subscription.add', by, at: hub.stamp(), pattern });
    return isRefusal(answer) ? answer : { subscribed: [...answer.channels] };
  },

  async 'channels.unsubscribe'({ hub, by }, { channels }) {
    const command = {
      type: 'subscription.remove',
      by,
      at: hub.stamp(),
      patterns: channels,
    } as const;
    const answer = await hub.submit(command);
    if (isRefusal(answer)) return answer;
    return { unsubscribed: [...answer.patterns], pending_cleared: answer.cleared };
  },

  async 'channels.list_channels'(room, { details, channel: only }) {
    const mismatch = checkVersion(room);
    if (mismatch !== null) return mismatch;
    const at = room.hub.stamp();
    const channels = await room.hub.ask((world) =>
      visibleChannels(world, room, at, { hasDetails: details || only !== undefined, only }),
    );
    if (isRefusal(channels)) return channels;
    return {
      channels,
      _sox_protocol: {
        server_version: SOX_PROTOCOL_VERSION,
        supported_versions: [SOX_PROTOCOL_VERSION],
        min_client_version: SOX_PROTOCOL_VERSION,
      },
    };
  },

  async 'channels.list_agents'({ hub, caller }, { status_filter: states, namespace }) {
    // Other spaces are other worlds; an administrator asks in the space itself.
    if (namespace !== undefined && namespace !== caller.space) return { agents: [] };
    const agents = await hub.ask((world) =>
      [...world.agents.values()].filter(({ presence }) => states?.includes(presence.state) ?? true),
    );
    if (isRefusal(agents)) return agents;
    return {
      agents: agents
        .map(({ name, presence }) => ({
          agent_id: name,
          presence_state: presence.state,
          last_heartbeat_at: presence.beatAt * 1_000_000,
          namespace: caller.space,
        }))
        .sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1)),
    };
  },

  async 'channels.heartbeat'({ hub, by, about }, input) {
    const { status, ttl = about.heartbeatTtl } = input;
    const at = hub.stamp();
    const ttlMs = ttl == null ? null : ttl * 1000;
    const answer = await hub.submit({ type: 'presence.beat', by, at, status, ttlMs });
    if (isRefusal(answer)) return answer;
    return {
      agent_id: by.id,
      status,
      recorded_at: at / 1000,
      expires_at: answer.expiresAt / 1000,
    };
  },

  async 'channels.replay'(room, { channel, since, limit, until }) {
    const { hub, by } = room;
    const page = await hub.ask((world) => {
      const forbidden = checkReplay(world, by, channel);
      if (forbidden !== null) return forbidden;
      const known = world.channels.get(channel);
      const positions: number[] = [];
      const last = Math.min(known?.positions.head ?? 0, until ?? Number.MAX_SAFE_INTEGER);
      let seq = Math.max(1, since);
      for (; known !== undefined && seq <= last && positions.length < limit; seq++) {
        if (!known.held?.has(seq)) positions.push(known.positions.at(seq));
      }
      return { positions, hasMore: seq <= last };
    });
    if (isRefusal(page)) return page;
    const { messages, through } = await readSome(room, page.positions, ANSWER_BYTES_MAX);
    const readers = await hub.ask((world) => messages.map((message) => readersOf(world, message)));
    const readersText = createReadersText();
    const texts = messages.map((message, i) => {
      const deliveredTo = isRefusal(readers) ? null : (readers[i] ?? null);
      return `{${envelopeFieldsText(message)},${standingFieldsText(message)},"delivered_to":${readersText(deliveredTo)},"origin_server":null}`;
    });
    const count = fitting(texts, ANSWER_BYTES_MAX - TAIL_BYTES);
    const hasMore = page.hasMore || through < page.positions.length || count < texts.length;
    const text = `{"messages":[${texts.slice(0, count).join(',')}],"has_more":${hasMore}}`;
    return outputFromText<OutputOf<typeof replay>>(text, ['messages', 'has_more']);
  },

  async 'channels.retire'({ hub, by, platform }, input) {
    const { channel, force: isForced } = input;
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const command = { type: 'channel.retire', by, at, channel, isForced, idempotency } as const;
    const answer = await hub.submit(command);
    return isRefusal(answer) ? answer : { channel, retired: true, messages: answer.messages };
  },

  async 'channels.configure'({ hub, by, caller, platform: { schemas } }, input) {
    const schema = input.schema == null ? input.schema : bodyText(input.schema, 'schema');
    if (schema != null && typeof schema !== 'string') return schema;
    const problem = schema == null ? null : schemas.problem(schema, checkedFor(caller));
    if (problem !== null && typeof problem !== 'string') return problem;
    if (problem !== null) {
      return refuse('input.invalid', `schema: ${problem}`, {
        violations: [{ field: 'schema', issue: problem }],
      });
    }
    const change: Partial<Omit<ChannelSettings, 'schemaVersion'>> = {
      ...(schema !== undefined && { schema }),
      ...(input.replay_policy !== undefined && { replayPolicy: input.replay_policy }),
      ...(input.replay_allow !== undefined && { replayAllow: input.replay_allow }),
      ...(input.backpressure_mode !== undefined && { backpressureMode: input.backpressure_mode }),
      ...(input.queue_limit !== undefined && { queueLimit: input.queue_limit }),
      ...(input.message_retention_ms !== undefined && {
        messageRetentionMs: input.message_retention_ms,
      }),
      ...(input.gate_tier2 !== undefined && { doesGateTier2: input.gate_tier2 || null }),
    };
    const { channel } = input;
    const settings = await hub.submit({
      type: 'channel.configure',
      by,
      at: hub.stamp(),
      channel,
      change,
    });
    if (isRefusal(settings)) return settings;
    return {
      channel,
      schema: schemaOf(settings.schema),
      replay_policy: settings.replayPolicy,
      replay_allow: [...settings.replayAllow],
      backpressure_mode: settings.backpressureMode,
      queue_limit: settings.queueLimit,
      message_retention_ms: settings.messageRetentionMs,
      gate_tier2: settings.doesGateTier2 === true,
    };
  },
};

/** What stands around the messages of a page. */
const TAIL_BYTES = 64;

type ListedChannel = OutputOf<typeof listChannels>['channels'][number];

/** So much of a description is listed. */
const DESCRIPTION_SHOWN_CHARS = 200;

function visibleChannels(
  world: WorldView,
  { by }: Room,
  at: number,
  { hasDetails, only }: { readonly hasDetails: boolean; readonly only: string | undefined },
): ListedChannel[] {
  const channels: ListedChannel[] = [];
  const listed = only === undefined ? world.channels.values() : [world.channels.get(only)];
  for (const channel of listed) {
    if (channel === undefined) continue;
    const { name, kind, members, lastSentAt, described } = channel;
    const isAlive =
      members.size > 0 ||
      (lastSentAt > 0 && at - lastSentAt < world.settings.retentionMs) ||
      described?.isStanding === true;
    const isHidden = kind !== 'plain' && by.kind !== 'admin' && checkRead(world, by, name) !== null;
    if (!isAlive || isHidden) continue;
    const details = hasDetails ? detailsOf(channel, by.id, only !== undefined) : {};
    channels.push({ name, subscriber_count: members.size, ...details });
  }
  return channels.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Beyond SOX's shape, for who asks [TM9]. */
function detailsOf(
  { described, lastSentAt, members }: ChannelView,
  reader: string,
  isWhole: boolean,
): Omit<ListedChannel, 'name' | 'subscriber_count'> {
  const member = members.get(reader);
  const description = described?.description ?? null;
  const isLong = !isWhole && (description?.length ?? 0) > DESCRIPTION_SHOWN_CHARS;
  return {
    title: described?.title ?? null,
    description: isLong
      ? `${description?.slice(0, DESCRIPTION_SHOWN_CHARS).toWellFormed()}…`
      : description,
    standing: described?.isStanding ?? false,
    types: [...(described?.types ?? [])],
    tiers: [...(described?.tiers ?? ANY_POST.tiers)],
    ...(isWhole && { post_schema: schemaOf(described?.postSchema ?? null) }),
    last_activity: lastSentAt === 0 ? null : lastSentAt / 1000,
    owed: member === undefined ? 0 : owedCount(member),
    subscribed: member !== undefined,
  };
}

function schemaOf(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (readJson(text) as Record<string, unknown>);
}

/** A client of another major version would misread us; it is told at the first question [V2]. */
function checkVersion({ caller }: Room): ReturnType<typeof refuse> | null {
  const { clientVersion } = caller;
  if (clientVersion === null || /^1(\.\d+)*$/.test(clientVersion)) return null;
  return refuse(
    'version.mismatch',
    `this hub speaks SOX ${SOX_PROTOCOL_VERSION}, the client says ${clientVersion.slice(0, 32)}; upgrade the client`,
    { supported_versions: [SOX_PROTOCOL_VERSION], client_version: clientVersion.slice(0, 32) },
  );
}
