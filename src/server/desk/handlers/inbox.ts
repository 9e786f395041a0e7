/** The inbox beyond draining, and questions about oneself and the hub. */
import { brokenLog } from '../../../core/docket/log-broken.ts';
import { isRefusal } from '../../../core/law/decider.ts';
import { owedTotal } from '../../../core/talk/inbox.ts';
import { owedCount } from '../../../core/talk/subscription.ts';
import { SOX_PROTOCOL_VERSION } from '../../../wire/sox.ts';
import type { Handlers } from '../room.ts';

export const inboxHandlers: Handlers<'inbox.peek' | 'inbox.commit' | 'hub.whoami' | 'hub.status'> =
  {
    async 'inbox.peek'({ hub, by }) {
      const owed = await hub.ask((world) => {
        const agent = world.agents.get(by.id);
        const channels = [...(agent?.ready ?? [])].map((member) => ({
          channel: member.channel.name,
          owed: owedCount(member),
        }));
        return { owed: owedTotal(agent), channels, leased: agent?.leasedCount ?? 0 };
      });
      return owed;
    },

    async 'inbox.commit'({ hub, by }, { through }) {
      const answer = await hub.submit({ type: 'inbox.commit', by, at: hub.stamp(), through });
      return isRefusal(answer) ? answer : { committed: answer.count };
    },

    async 'hub.whoami'({ hub, by, caller }) {
      const subscriptions = await hub.ask((world) => [
        ...(world.agents.get(by.id)?.patterns ?? []),
      ]);
      if (isRefusal(subscriptions)) return subscriptions;
      return { agent_id: by.id, kind: by.kind, tier: by.tier, space: caller.space, subscriptions };
    },

    async 'hub.status'({ hub, platform, caller, nodeId, about }) {
      const size = await hub.ask((world) => ({
        channels: world.channels.size,
        agents: world.agents.size,
        trouble: brokenLog(world),
      }));
      if (isRefusal(size)) return size;
      const { entries, queued, feeds } = hub.stats;
      return {
        version: about.version,
        protocol_version: SOX_PROTOCOL_VERSION,
        node_id: nodeId,
        uptime_s: (platform.elapsedMs() - about.startedAt) / 1000,
        store_ok: hub.isAvailable,
        space: caller.space,
        entries,
        head: hub.head,
        ...size,
        cluster: hub.standing,
        feeds,
        queued,
        plugins: [...about.plugins],
      };
    },
  };
