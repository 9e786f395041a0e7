/**
 * `synod docket` at a terminal: the list, then a line at a time what to do about it, in one process, so
 * that a passphrase typed once is good for the rest of it. The first time there is a gate to decide and
 * nobody is known as a person, it offers to make one known.
 */
import type { Person } from '../bus/programs/registry-setup.ts';
import type { Call } from './context.ts';
import {
  type Acts,
  answer,
  close,
  type Done,
  decide,
  heldLines,
  isItem,
  take,
} from './docket-acts.ts';
import { type Item, itemDetail } from './docket-text.ts';
import { fail, toFailure } from './failure.ts';
import { askNewPassphrase } from './prove.ts';

export interface SessionOptions {
  readonly acts: Acts & { readonly person: Person };
  readonly call: Call;
  /** Prints the list and answers with what is on it. */
  list(): Promise<readonly Item[]>;
  print(line: string): void;
}

const HELP = [
  'approve ID [WHY]   deny ID WHY   answer ID TEXT   take ID   close ID [NOTE]   show ID',
  'ID is an item (d3), a gate or a message. Enter lists again, q leaves; other commands want a shell.',
];

export async function runSession({ acts, call, list, print }: SessionOptions): Promise<void> {
  const { person } = acts;
  const items = await list();
  if (items.length === 0) return;
  if (items.some(({ kinds }) => kinds.includes('gate'))) await offerPerson(call, person);
  person.say('What to do? ? for help, q to leave');
  for (;;) {
    const line = await person.ask('docket> ');
    if (line === null || /^(q|quit|exit)$/.test(line)) return;
    try {
      if (line === '' || line === 'list') {
        if ((await list()).length === 0) return;
      } else if (line === '?' || line === 'help') for (const one of HELP) person.say(one);
      else await carryOut(acts, call, line, print);
    } catch (error) {
      const { message, hint } = toFailure(error);
      person.say(hint === undefined ? message : `${message} (${hint})`);
    }
  }
}

async function carryOut(
  acts: Acts,
  call: Call,
  line: string,
  print: (line: string) => void,
): Promise<void> {
  const [, verb = '', id = '', rest = ''] = /^(\S+)\s*(\S*)\s*(.*)$/.exec(line) ?? [];
  if (id === '') throw fail('cli.usage', `${verb} what?`, { hint: '? for help' });
  if (verb === 'show') {
    const { item } = await call('docket.get', { item_id: id });
    for (const one of [...itemDetail(item), ...(await heldLines(call, item))]) print(one);
    return;
  }
  print((await doneBy(acts, verb, id, rest)).line);
}

async function doneBy(acts: Acts, verb: string, id: string, rest: string): Promise<Done> {
  const words = rest === '' ? undefined : rest;
  switch (verb) {
    case 'approve':
    case 'deny':
      return decide(acts, id, verb, words);
    case 'answer': {
      // A question may be named after its item where there are several.
      const [, about, text] = /^(q\d+)\s+(.+)$/.exec(rest) ?? [];
      return answer(acts, id, text ?? rest, about);
    }
    case 'take':
      return take(acts, id, words === 'force');
    case 'close':
      return close(acts, isItem(id) ? id : `d${id}`, 'done', words);
    default:
      throw fail('cli.usage', `nothing is done by ${verb}`, { hint: '? for help' });
  }
}

/** Only a person decides a gate, and so far there is none. */
async function offerPerson(call: Call, person: Person): Promise<void> {
  const { people } = await call('people.list', {});
  if (people.length > 0) return;
  person.say('An agent asks for approval, which only a person gives, with a passphrase.');
  person.say('Nobody is known as a person here yet. (Later: synod person add NAME)');
  const name = await person.ask('Your name, or Enter to leave it: ');
  if (name === null || name === '') return;
  try {
    const passphrase = await askNewPassphrase(person, name);
    await call('people.add', { name, passphrase });
    person.say(`${name} is a person here`);
  } catch (error) {
    person.say(toFailure(error).message);
  }
}
