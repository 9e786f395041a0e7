/** `synod person …`: who can decide gates here, each with a passphrase of their own. */
import type { Command } from 'commander';
import { type Context, handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { askNewPassphrase, createProver, withPerson } from './prove.ts';

interface VouchFlags {
  readonly person?: string;
}

export function registerPerson(program: Command): void {
  const person = program
    .command('person')
    .description('people of this space: they alone decide gates, and prove it with a passphrase');
  const add = person
    .command('add')
    .description(
      'make somebody known, with a passphrase typed here; from the second on a person vouches',
    )
    .argument('<name>')
    .option('--person <name>', 'who vouches');
  handle<VouchFlags>(add, (context) =>
    withPerson(async (sitting) => {
      const [name = ''] = context.args;
      const { people } = await context.call('people.list', {});
      const proof = people.length === 0 ? undefined : await vouch(context, sitting);
      const passphrase = await askNewPassphrase(sitting, name);
      const answer = await context.call('people.add', { name, passphrase, proof });
      context.say(answer, `${answer.name} is a person here: synod gates lists what to decide`);
    }),
  );
  const list = person.command('list').description('who they are, since when, and who let them in');
  handle(list, async ({ call, table }) => {
    const answer = await call('people.list', {});
    const rows = answer.people.map((one) => [
      one.name,
      `since ${clockTime(one.added_at)}`,
      `added by ${one.added_by}`,
      one.vouched_by === null ? 'the first' : `vouched for by ${one.vouched_by}`,
    ]);
    table(answer, rows, 'nobody yet: synod person add NAME');
  });
  const remove = person
    .command('remove')
    .description('that one decides nothing any more; a person vouches')
    .argument('<name>')
    .option('--person <name>', 'who vouches');
  handle<VouchFlags>(remove, (context) =>
    withPerson(async (sitting) => {
      const [name = ''] = context.args;
      const proof = await vouch(context, sitting);
      const answer = await context.call('people.remove', { name, proof });
      context.say(answer, `${answer.name} is no person here any more`);
    }),
  );
  const passkeys = person
    .command('passkeys')
    .description('passkeys that prove a person on the page: whose, of which device, since when');
  handle(passkeys, async ({ call, table }) => {
    const answer = await call('people.passkey_list', {});
    const rows = answer.passkeys.map((one) => [
      one.passkey_id,
      one.name,
      one.label ?? 'a device',
      `since ${clockTime(one.added_at)}`,
    ]);
    table(answer, rows, 'none yet: the page adds one after a passphrase (synod web)');
  });
  const drop = person
    .command('drop-passkey')
    .description('that passkey proves nothing any more; a person vouches')
    .argument('<passkey>', 'its id, as synod person passkeys shows it')
    .option('--person <name>', 'who vouches')
    // One id in sixty-four begins with a dash.
    .allowUnknownOption();
  handle<VouchFlags>(drop, (context) =>
    withPerson(async (sitting) => {
      const [passkey_id = ''] = context.args;
      const proof = await vouch(context, sitting);
      const answer = await context.call('people.passkey_remove', { passkey_id, proof });
      context.say(answer, `${answer.name} cannot prove it with ${passkey_id} any more`);
    }),
  );
}

function vouch(
  { call, flags }: Context<VouchFlags>,
  person: Parameters<Parameters<typeof withPerson>[0]>[0],
): Promise<string> {
  return createProver({ call, person, name: flags.person ?? null }).prove();
}
