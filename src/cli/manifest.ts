/** `synod manifest …`: what every agent says it can do; advertise a card, take it back. Without a verb it lists. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { isFields } from '../wire/fields.ts';
import { readStdin } from './body-input.ts';
import { handle } from './context.ts';
import { addPageFlags, type PageFlags, parseObject } from './parse-value.ts';

export function registerManifest(program: Command): void {
  const manifest = program.command('manifest').description('what every agent says it can do');
  const list = addPageFlags(
    manifest.command('list', { isDefault: true }).description('the cards of all agents'),
  );
  handle<PageFlags>(list, async ({ flags, call, table }) => {
    const { limit, after } = flags;
    const answer = await call('cards.manifest', { limit, after });
    const none = 'no cards; show yours with: synod manifest advertise JSON';
    table(answer, answer.cards.map(rowOf), none);
  });
  const advertise = manifest
    .command('advertise')
    .description('show your card: A2A fields, task_classes, model')
    .argument('<card>', 'a JSON object; - reads it from standard input');
  handle(advertise, async ({ args, call, table }) => {
    const [text = ''] = args;
    const card = parseObject(text === '-' ? await readStdin() : text, 'the card');
    const answer = await call('cards.advertise', { card });
    table(answer, [rowOf(answer)]);
  });
  const withdraw = manifest.command('withdraw').description('take your card back');
  handle(withdraw, async ({ call, say }) => {
    const answer = await call('cards.withdraw', {});
    say(answer, answer.withdrawn ? 'withdrawn' : 'there was none');
  });
}

/** A card holds what its agent wrote; what is not in the form of A2A is not shown. */
function rowOf(card: CallOutput<'cards.manifest'>['cards'][number]): string[] {
  const { agent_id: name, task_classes: classes, skills, description } = card;
  const able = [...listOf(classes), ...listOf(skills).map((one) => isFields(one) && one.id)];
  const words = new Set(able.filter((one) => typeof one === 'string'));
  return [name, [...words].join(', ') || '-', typeof description === 'string' ? description : ''];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
