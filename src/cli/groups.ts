/** `synod groups …`: create, invite, join, leave, and look. Without a verb it lists yours. */
import type { Command } from 'commander';
import { handle } from './context.ts';

export function registerGroups(program: Command): void {
  const groups = program.command('groups').description('groups: who may read and write group/<id>');
  const list = groups
    .command('list', { isDefault: true })
    .description('groups you are in or invited to');
  handle(list, async ({ call, table }) => {
    const answer = await call('group.list', {});
    const rows = answer.groups.map((one) => [
      one.group_id,
      one.status,
      `${one.member_count} members`,
      one.display_name ?? '',
    ]);
    table(answer, rows, 'no groups; make one with: synod groups create ID');
  });
  registerCreate(groups);
  const invite = groups
    .command('invite')
    .description('invite an agent')
    .argument('<group>')
    .argument('<agent>')
    .option('--message <text>', 'sent along as a dm');
  handle<{ message?: string }>(invite, async ({ args, flags, call, say }) => {
    const [group = '', agent = ''] = args;
    const input = { group_id: group, agent_id: agent, message: flags.message };
    say(await call('group.invite', input), `invited ${agent} to ${group}`);
  });
  const join = groups.command('join').description('accept an invitation').argument('<group>');
  handle(join, async ({ args, call, say }) => {
    const answer = await call('group.join', { group_id: args[0] ?? '' });
    say(answer, `joined ${answer.group_id}, now ${answer.member_count} members`);
  });
  const leave = groups.command('leave').description('leave a group').argument('<group>');
  handle(leave, async ({ args, call, say }) => {
    const answer = await call('group.leave', { group_id: args[0] ?? '' });
    say(answer, `left ${answer.group_id}`);
  });
  const members = groups.command('members').description('who is in a group').argument('<group>');
  handle(members, async ({ args, call, table }) => {
    const input = { group_id: args[0] ?? '', include_presence: true };
    const answer = await call('group.list_members', input);
    table(
      answer,
      answer.members.map((one) => [one.agent_id, one.status, one.presence_state ?? '']),
    );
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
    async ({ args, flags, call, say }) => {
      const [group_id] = args;
      const { displayName: display_name, replayPolicy: replay_policy } = flags;
      const answer = await call('group.create', { group_id, display_name, replay_policy });
      say(answer, `created ${answer.group_id}`);
    },
  );
}
