/** `synod offers …`: resources on offer; make one, take it back. Without a verb it lists. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags, parseObject, seconds, whole } from './parse-value.ts';

export function registerOffers(program: Command): void {
  const offers = program.command('offers').description('resources that agents offer each other');
  registerList(offers);
  registerMake(offers);
  const withdraw = offers
    .command('withdraw')
    .description('take an offer back')
    .argument('<kind>')
    .argument('<name>');
  handle(withdraw, async ({ args, call, say }) => {
    const [kind = '', name = ''] = args;
    say(await call('offers.withdraw', { kind, name }), `withdrawn: ${kind} ${name}`);
  });
}

interface ListFlags extends PageFlags {
  readonly agent?: string;
  readonly kind?: string;
}

function registerList(offers: Command): void {
  const list = addPageFlags(
    offers
      .command('list', { isDefault: true })
      .description('what is on offer')
      .option('--agent <name>', 'only offers of this agent')
      .option('--kind <kind>', 'only this kind, such as llm, compute or fs'),
  );
  handle<ListFlags>(list, async ({ flags, call, table }) => {
    const { agent, kind, limit, after } = flags;
    const answer = await call('offers.list', { agent_id: agent, kind, limit, after });
    table(answer, answer.offers.map(rowOf), 'nothing is on offer');
  });
}

function rowOf(offer: CallOutput<'offers.list'>['offers'][number]): string[] {
  const { kind, name, agent_id: agent, capacity, expires_at: expires } = offer;
  return [kind, name, agent, `${capacity} at a time`, `until ${clockTime(expires)}`];
}

interface MakeFlags {
  readonly capacity?: number;
  readonly ttl?: number;
  readonly meta?: Record<string, unknown>;
}

function registerMake(offers: Command): void {
  const make = offers
    .command('make')
    .description('offer a resource for a while; repeat it to refresh')
    .argument('<kind>', 'such as llm, compute or fs')
    .argument('<name>')
    .option(...whole('--capacity <n>', 'how many at a time; told, not reserved'))
    .option(...seconds('--ttl <time>', 'seconds, or 5m, 2h: then it is gone'))
    .option('--meta <json>', 'a JSON object', (text) => parseObject(text, '--meta'));
  handle<MakeFlags>(make, async ({ args, flags, call, table }) => {
    const [kind = '', name = ''] = args;
    const { capacity, ttl: ttl_seconds, meta } = flags;
    const answer = await call('offers.make', { kind, name, capacity, ttl_seconds, meta });
    table(answer, [rowOf(answer)]);
  });
}
