/** `synod groups …`: create, invite, join, leave, and look. Without a verb it lists yours. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';
import { columns, neutralise } from './terminal.ts';

interface GroupView {
  readonly group_id: string;
  readonly display_name: string | null;
  readonly status: string;
  readonly member_count: number;
}

interface MemberView {
  readonly agent_id: string;
  readonly status: string;
  readonly presence_state: string | null;
}

export function registerGroups(program: Command): void {
  const groups = program.command('groups').description('groups: who may read and write group/<id>');
  registerList(groups);
  registerCreate(groups);
  const invite = groups
    .command('invite')
    .description('invite an agent')
    .argument('<group>')
    .argument('<agent>')
    .option('--message <text>', 'sent along as a dm');
  handle<{ message?: string }>(invite, async ({ args, flags, call, show }) => {
    const [group = '', agent = ''] = args;
    const input = given({ group_id: group, agent_id: agent, message: flags.message });
    const answer = await call('group_invite', input);
    show(answer, () => [`invited ${neutralise(agent)} to ${neutralise(group)}`]);
  });
  const join = groups.command('join').description('accept an invitation').argument('<group>');
  handle(join, async ({ args, call, show }) => {
    const answer = await call('group_join', { group_id: args[0] });
    show(answer, () => [
      `joined ${neutralise(String(answer.group_id))}, now ${answer.member_count} members`,
    ]);
  });
  const leave = groups.command('leave').description('leave a group').argument('<group>');
  handle(leave, async ({ args, call, show }) => {
    const answer = await call('group_leave', { group_id: args[0] });
    show(answer, () => [`left ${neutralise(String(answer.group_id))}`]);
  });
  registerMembers(groups);
}

function registerList(groups: Command): void {
  const list = groups
    .command('list', { isDefault: true })
    .description('groups you are in or invited to');
  handle(list, async ({ call, show, remark }) => {
    const answer = await call('group_list', {});
    const mine = answer.groups as GroupView[];
    show(answer, () =>
      columns(
        mine.map((one) => [
          one.group_id,
          one.status,
          `${one.member_count} members`,
          one.display_name ?? '',
        ]),
      ),
    );
    if (mine.length === 0) remark('no groups; make one with: synod groups create ID');
  });
}

function registerCreate(groups: Command): void {
  const create = groups
    .command('create')
    .description('make a group; you are its first member')
    .argument('[id]', 'left out, the hub picks one')
    .option('--display-name <text>')
    .option('--replay-policy <policy>', 'subscriber, admin_only or custom');
  handle<{ displayName?: string; replayPolicy?: string }>(
    create,
    async ({ args, flags, call, show }) => {
      const input = given({
        group_id: args[0],
        display_name: flags.displayName,
        replay_policy: flags.replayPolicy,
      });
      const answer = await call('group_create', input);
      show(answer, () => [`created ${neutralise(String(answer.group_id))}`]);
    },
  );
}

function registerMembers(groups: Command): void {
  const members = groups.command('members').description('who is in a group').argument('<group>');
  handle(members, async ({ args, call, show }) => {
    const answer = await call('group_list_members', { group_id: args[0], include_presence: true });
    const all = answer.members as MemberView[];
    show(answer, () =>
      columns(all.map((one) => [one.agent_id, one.status, one.presence_state ?? ''])),
    );
  });
}
