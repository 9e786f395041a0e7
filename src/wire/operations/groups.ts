/** Groups: create, invite, join, leave, list. `*_at` are whole seconds, as SOX has them. */
import { z } from 'zod';
import { INVITE_MESSAGE_CHARS_MAX } from '../../core/law/limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, idempotencyKey, replayPolicy } from '../schemas.ts';
import { shape } from '../shape.ts';

const groupId = shape(() => z.string().min(1).max(256));
const wholeSeconds = shape(() => z.int());

export const groupCreate = operation({
  id: 'group.create',
  name: 'group_create',
  title: 'Create a group',
  doc: 'Create a group; you are its first member and subscribed to group/<id>.',
  access: 'writer',
  toolset: 'groups',
  hints: ADDS,
  aliases: ['channels__group_create'],
  input: () =>
    z.strictObject({
      group_id: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .describe('bare id; omitted: the hub picks one'),
      id_mode: z.enum(['client', 'server']).optional(),
      display_name: z.string().max(256).optional(),
      namespace: z.string().min(1).optional(),
      replay_policy: replayPolicy().optional(),
    }),
  output: () => z.object({ group_id: z.string(), created_at: wholeSeconds() }),
});

export const groupInvite = operation({
  id: 'group.invite',
  name: 'group_invite',
  title: 'Invite to a group',
  doc: 'Invite an agent; with a message it also gets a sox-invite as a dm.',
  access: 'writer',
  toolset: 'groups',
  hints: ADDS,
  aliases: ['channels__group_invite'],
  input: () =>
    z.strictObject({
      group_id: groupId(),
      agent_id: agentId(),
      message: z.string().max(INVITE_MESSAGE_CHARS_MAX).optional(),
    }),
  output: () =>
    z.object({ invited: z.boolean(), agent_id: z.string(), invited_at: wholeSeconds() }),
});

export const groupJoin = operation({
  id: 'group.join',
  name: 'group_join',
  title: 'Join a group',
  doc: 'Accept an invitation; you are subscribed from now on.',
  access: 'writer',
  toolset: 'groups',
  hints: SETS,
  aliases: ['channels__group_join'],
  input: () => z.strictObject({ group_id: groupId() }),
  output: () =>
    z.object({
      joined: z.boolean(),
      group_id: z.string(),
      member_count: z.int().min(1),
      joined_at: wholeSeconds(),
    }),
});

export const groupLeave = operation({
  id: 'group.leave',
  name: 'group_leave',
  title: 'Leave a group',
  doc: 'Leave; later messages do not reach you.',
  access: 'writer',
  toolset: 'groups',
  hints: REMOVES,
  aliases: ['channels__group_leave'],
  input: () => z.strictObject({ group_id: groupId() }),
  output: () => z.object({ left: z.boolean(), group_id: z.string(), left_at: wholeSeconds() }),
});

export const groupRemove = operation({
  id: 'group.remove',
  name: 'group_remove',
  title: 'Dissolve a group',
  doc: 'End a group you made, for all its members; its messages stay in the log.',
  access: 'writer',
  toolset: 'groups',
  hints: REMOVES,
  aliases: ['channels__group_remove'],
  input: () => z.strictObject({ group_id: groupId(), idempotency_key: idempotencyKey() }),
  output: () =>
    z.object({ removed: z.boolean(), group_id: z.string(), member_count: z.int().min(0) }),
});

export const groupListMembers = operation({
  id: 'group.list_members',
  name: 'group_list_members',
  title: 'List group members',
  doc: 'Members of a group you are in, with their presence if asked.',
  access: 'reader',
  toolset: 'groups',
  hints: READS,
  aliases: ['channels__group_list_members'],
  input: () =>
    z.strictObject({ group_id: groupId(), include_presence: z.boolean().default(false) }),
  output: () =>
    z.object({
      group_id: z.string(),
      members: z.array(
        z.object({
          agent_id: z.string(),
          status: z.enum(['active', 'invited']),
          joined_at: wholeSeconds(),
          presence_state: z.string().nullable(),
        }),
      ),
    }),
});

export const groupList = operation({
  id: 'group.list',
  name: 'group_list',
  title: 'List my groups',
  doc: 'Groups you are a member of or invited to.',
  access: 'reader',
  toolset: 'groups',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      groups: z.array(
        z.object({
          group_id: z.string(),
          display_name: z.string().nullable(),
          status: z.enum(['active', 'invited']),
          member_count: z.int(),
        }),
      ),
    }),
});
