/** Groups. `*_at` are whole seconds; ids come bare or full and go out full. */
import { isRefusal, refuse } from '../../../core/law/decider.ts';
import { groupName } from '../../../core/law/name.ts';
import { activeGroup } from '../../../core/talk/group.ts';
import { idempotencyOf } from '../idempotency.ts';
import type { Handlers } from '../room.ts';

const seconds = (at: number): number => Math.floor(at / 1000);

export const groupHandlers: Handlers<
  | 'group.create'
  | 'group.invite'
  | 'group.join'
  | 'group.leave'
  | 'group.remove'
  | 'group.list_members'
  | 'group.list'
> = {
  async 'group.create'({ hub, by, caller, platform }, input) {
    const { group_id, id_mode, namespace } = input;
    if (namespace !== undefined && namespace !== caller.space) {
      return refuse(
        'space.not-found',
        `you are in space ${caller.space}; a group is made in one's own space`,
      );
    }
    if (id_mode === 'client' && group_id === undefined) {
      return refuse('input.invalid', 'group_create: group_id is required when id_mode is client', {
        violations: [{ field: 'group_id', issue: 'is required when id_mode is client' }],
      });
    }
    const isServerPick = id_mode === 'server' || group_id === undefined;
    const group = groupName(isServerPick ? platform.newId() : group_id);
    const at = hub.stamp();
    const answer = await hub.submit({
      type: 'group.create',
      by,
      at,
      group,
      displayName: input.display_name ?? null,
      replayPolicy: input.replay_policy ?? null,
    });
    return isRefusal(answer) ? answer : { group_id: group, created_at: seconds(at) };
  },

  async 'group.invite'({ hub, by }, { group_id, agent_id, message }) {
    const at = hub.stamp();
    const answer = await hub.submit({
      type: 'group.invite',
      by,
      at,
      group: groupName(group_id),
      agent: agent_id,
      message: message ?? null,
    });
    if (isRefusal(answer)) return answer;
    return { invited: answer.isInvited, agent_id, invited_at: seconds(at) };
  },

  async 'group.join'({ hub, by }, { group_id }) {
    const at = hub.stamp();
    const group = groupName(group_id);
    const answer = await hub.submit({ type: 'group.join', by, at, group });
    if (isRefusal(answer)) return answer;
    const { isJoined, memberCount } = answer;
    return { joined: isJoined, group_id: group, member_count: memberCount, joined_at: seconds(at) };
  },

  async 'group.leave'({ hub, by }, { group_id }) {
    const at = hub.stamp();
    const group = groupName(group_id);
    const answer = await hub.submit({ type: 'group.leave', by, at, group });
    if (isRefusal(answer)) return answer;
    return { left: answer.hasLeft, group_id: group, left_at: seconds(at) };
  },

  async 'group.remove'({ hub, by, platform }, input) {
    const group = groupName(input.group_id);
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'group.remove', by, at, group, idempotency });
    if (isRefusal(answer)) return answer;
    return { removed: true, group_id: group, member_count: answer.memberCount };
  },

  async 'group.list_members'({ hub, by }, { group_id, include_presence }) {
    const name = groupName(group_id);
    const members = await hub.ask((world) => {
      const group = activeGroup(world, by, name);
      if (isRefusal(group)) return group;
      return [...group.members].map(([agent_id, { status, at }]) => ({
        agent_id,
        status,
        joined_at: seconds(at),
        presence_state: include_presence
          ? (world.agents.get(agent_id)?.presence.state ?? 'offline')
          : null,
      }));
    });
    return isRefusal(members) ? members : { group_id: name, members };
  },

  async 'group.list'({ hub, by }) {
    const groups = await hub.ask((world) =>
      [...world.groups.values()].flatMap(({ id, displayName, members }) => {
        const mine = members.get(by.id);
        if (mine === undefined) return [];
        const active = [...members.values()].filter(({ status }) => status === 'active');
        return [
          {
            group_id: id,
            display_name: displayName,
            status: mine.status,
            member_count: active.length,
          },
        ];
      }),
    );
    return isRefusal(groups) ? groups : { groups };
  },
};
