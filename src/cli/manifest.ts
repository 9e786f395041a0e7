/** `synod manifest …`: what every agent says it can do; advertise a card, take it back. Without a verb it lists. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';
import { addPageFlags, type PageFlags, pageOf, remarkMore } from './paging.ts';
import { parseObject } from './parse-value.ts';
import { readStdin } from './stdin.ts';
import { columns } from './terminal.ts';

interface CardView {
  readonly agent_id: string;
  readonly description?: string;
  readonly task_classes?: readonly string[];
  readonly skills?: readonly { readonly id: string }[];
}

export function registerManifest(program: Command): void {
  const manifest = program.command('manifest').description('what every agent says it can do');
  const list = addPageFlags(
    manifest.command('list', { isDefault: true }).description('the cards of all agents'),
  );
  handle<PageFlags>(list, async ({ flags, call, show, remark }) => {
    const answer = await call('cards_manifest', given(pageOf(flags)));
    const cards = answer.cards as CardView[];
    show(answer, () => columns(cards.map(rowOf)));
    if (cards.length === 0) remark('no cards; show yours with: synod manifest advertise JSON');
    remarkMore(answer.next, remark);
  });
  const advertise = manifest
    .command('advertise')
    .description('show your card: A2A fields, task_classes, model')
    .argument('<card>', 'a JSON object; - reads it from standard input');
  handle(advertise, async ({ args, call, show }) => {
    const [text = ''] = args;
    const card = parseObject(text === '-' ? await readStdin() : text, 'the card');
    const answer = await call('cards_advertise', { card });
    show(answer, () => columns([rowOf(answer as unknown as CardView)]));
  });
  const withdraw = manifest.command('withdraw').description('take your card back');
  handle(withdraw, async ({ call, show }) => {
    const answer = await call('cards_withdraw', {});
    show(answer, () => [answer.withdrawn === true ? 'withdrawn' : 'there was none']);
  });
}

function rowOf({ agent_id: name, task_classes: classes, skills, description }: CardView): string[] {
  const able = [...(classes ?? []), ...(skills ?? []).map(({ id }) => id)];
  return [name, [...new Set(able)].join(', ') || '-', description ?? ''];
}
