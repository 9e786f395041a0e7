/** `synod offers …`: resources on offer; make one, take it back. Without a verb it lists. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags, pageOf, remarkMore } from './paging.ts';
import { parseDurationMs, parseObject, parseWhole } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';

interface OfferView {
  readonly agent_id: string;
  readonly kind: string;
  readonly name: string;
  readonly capacity: number;
  readonly expires_at: number;
}

export function registerOffers(program: Command): void {
  const offers = program.command('offers').description('resources that agents offer each other');
  registerList(offers);
  registerMake(offers);
  const withdraw = offers
    .command('withdraw')
    .description('take an offer back')
    .argument('<kind>')
    .argument('<name>');
  handle(withdraw, async ({ args, call, show }) => {
    const [kind = '', name = ''] = args;
    const answer = await call('offers_withdraw', { kind, name });
    show(answer, () => [neutralise(`withdrawn: ${kind} ${name}`)]);
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
  handle<ListFlags>(list, async ({ flags, call, show, remark }) => {
    const { agent, kind } = flags;
    const answer = await call('offers_list', given({ agent_id: agent, kind, ...pageOf(flags) }));
    const found = answer.offers as OfferView[];
    show(answer, () => columns(found.map(rowOf)));
    if (found.length === 0) remark('nothing is on offer');
    remarkMore(answer.next, remark);
  });
}

function rowOf({
  kind,
  name,
  agent_id: agent,
  capacity,
  expires_at: expires,
}: OfferView): string[] {
  return [kind, name, agent, `${capacity} at a time`, `until ${clockTime(expires)}`];
}

interface MakeFlags {
  readonly capacity?: string;
  readonly ttl?: string;
  readonly meta?: string;
}

function registerMake(offers: Command): void {
  const make = offers
    .command('make')
    .description('offer a resource for a while; repeat it to refresh')
    .argument('<kind>', 'such as llm, compute or fs')
    .argument('<name>')
    .option('--capacity <n>', 'how many at a time; told, not reserved')
    .option('--ttl <time>', 'seconds, or 5m, 2h: then it is gone')
    .option('--meta <json>', 'a JSON object');
  handle<MakeFlags>(make, async ({ args, flags, call, show }) => {
    const [kind, name] = args;
    const { capacity, ttl, meta } = flags;
    const answer = await call(
      'offers_make',
      given({
        kind,
        name,
        capacity: capacity === undefined ? undefined : parseWhole(capacity, '--capacity'),
        ttl_seconds: ttl === undefined ? undefined : parseDurationMs(ttl, '--ttl') / 1000,
        meta: meta === undefined ? undefined : parseObject(meta, '--meta'),
      }),
    );
    show(answer, () => columns([rowOf(answer as unknown as OfferView)]));
  });
}
