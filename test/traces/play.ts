/**
 * Plays a script to the law alone, `decide` and `evolve`, and writes under each command what came of
 * it: the events with their positions (`~` for those no log keeps), or the refusal in full. Stamps are
 * written as the time since the script began.
 */
import { isRefusal, type Refusal } from '../../src/core/law/decider.ts';
import { createWorld, type World } from '../../src/core/law/state.ts';
import { decideDue } from '../../src/core/law/tick.ts';
import { type Command, decide, type Event, evolve, isEphemeral } from '../../src/core/law/world.ts';
import { checkRead, checkReplay } from '../../src/core/talk/channel.ts';
import type { MessageRef } from '../../src/core/talk/message-id.ts';
import { receiptsOf } from '../../src/core/talk/receipt.ts';
import { owedCount } from '../../src/core/talk/subscription.ts';
import { toCommand } from './command.ts';
import { type Asked, parseLine, UNITS_MS } from './script.ts';

/** When every script begins. */
export const START = 1_000_000;
const NOTHING_DUE = '  looked, and found nothing';

/** What is asked of the world without a command. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  'may-read': ['channel'],
  'may-replay': ['channel'],
  owed: [],
  receipts: ['message'],
};

export interface Played {
  /** The script with its outcome under each line. */
  readonly text: string;
  readonly events: readonly Event[];
  readonly refusals: readonly Refusal[];
}

export function play(script: string): Played {
  const world = createWorld();
  const refs = new Map<number, MessageRef>();
  const events: Event[] = [];
  const refusals: Refusal[] = [];
  let at = START;
  let out: string[] = [];

  const record = (happened: readonly Event[]): void => {
    if (happened.length === 0) out.push('  (nothing)');
    for (const event of happened) {
      const position = world.length;
      evolve(world, event, position);
      events.push(event);
      if (event.type === 'message.sent') {
        const { channel, seq, by } = event;
        refs.set(position, { position, channel, seq, sender: by });
      }
      out.push(`  ${isEphemeral(event) ? '~' : position} ${told(event)}`);
    }
  };
  const refused = (refusal: Refusal): void => {
    refusals.push(refusal);
    const when = refusal.retryAt === undefined ? '' : ` (again at ${since(refusal.retryAt)})`;
    out.push(`  refused ${refusal.refused}: ${refusal.message}${when}`);
  };
  const submit = (command: Command | Refusal): void => {
    const decision = isRefusal(command) ? command : decide(world, command);
    if (isRefusal(decision)) refused(decision);
    else record(decision.events);
  };
  const pass = (ms: number): void => {
    const until = at + ms;
    const before: string[] = [];
    for (
      let due = world.deadlines.next;
      due !== null && due.at <= until;
      due = world.deadlines.next
    ) {
      at = Math.max(at, due.at);
      out = [];
      record(decideDue(world, at));
      const what = `  at ${since(at)}, ${due.kind}${due.agent && ` of ${due.agent}`}`;
      // A look that finds nothing says the same as the one before it.
      if (out.length > 1) before.push(what, ...out);
      else if (before.at(-1) !== NOTHING_DUE) before.push(NOTHING_DUE);
    }
    at = until;
    out = [...before, `  it is ${since(at)}`];
  };
  const ask = (asked: Asked): void => {
    if (!(asked.verb in QUESTIONS)) return submit(toCommand(asked, at, world, refs));
    const answer = answerTo(asked, at, world, refs);
    if (isRefusal(answer)) refused(answer);
    else out.push(...(answer.length > 0 ? answer : ['(nothing)']).map((line) => `  ${line}`));
  };

  const text: string[] = [];
  for (const line of script.trimEnd().split('\n')) {
    if (line.startsWith('  ')) continue;
    text.push(line);
    if (!line.startsWith('> ')) continue;
    out = [];
    const step = parseLine(line, QUESTIONS);
    if (step.kind === 'pass') pass(step.ms);
    else {
      for (let turn = 1; turn <= step.times; turn++) {
        out = [];
        ask(step.at(turn));
      }
      if (step.times > 1) out.unshift(`  the last of ${step.times}:`);
    }
    text.push(...out);
  }
  return { text: `${text.join('\n')}\n`, events, refusals };
}

function answerTo(
  { by, verb, fields }: Asked,
  at: number,
  world: World,
  refs: ReadonlyMap<number, MessageRef>,
): string[] | Refusal {
  const { channel = '', message = 0 } = fields as { channel?: string; message?: number };
  switch (verb) {
    case 'may-read':
      return checkRead(world, by, channel) ?? ['yes'];
    case 'may-replay':
      return checkReplay(world, by, channel) ?? ['yes'];
    case 'owed': {
      const members = [...(world.agents.get(by.id)?.ready ?? [])];
      return members.map((member) => `${member.channel.name}: ${owedCount(member)}`);
    }
    default: {
      const ref = refs.get(message) as MessageRef;
      return receiptsOf(world, { ...ref, expiresAt: null }, at).map(
        ({ agent, state, reason }) => `${agent}: ${state}${reason === null ? '' : `, ${reason}`}`,
      );
    }
  }
}

/** An event in one line: fields by name, without the stamp and what is null. */
function told(event: Event): string {
  const { type, at: _at, ...fields } = event as Event & Record<string, unknown>;
  return [type, ...fieldsOf(fields)].join(' ');
}

/** Fields by name, with stamps as the time since the start; what is null is left out. */
export function fieldsOf(fields: object): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${shown(name, value)}`);
}

function shown(name: string, value: unknown): string {
  if (typeof value === 'number') {
    if (/^(at|until|.*At|leaseUntil)$/.test(name)) return since(value);
    return name.endsWith('Ms') ? lasting(value) : String(value);
  }
  if (typeof value === 'string')
    return /^[\w./:*?~-]+$/.test(value) || name === 'body' ? value : JSON.stringify(value);
  if (typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  return `{${fieldsOf(value as object).join(' ')}}`;
}

function since(stamp: number): string {
  return stamp === START ? 'the start' : lasting(stamp - START);
}

function lasting(ms: number): string {
  let left = ms;
  let text = '';
  for (const [unit, size] of Object.entries(UNITS_MS).reverse()) {
    if (left >= size) text += `${Math.floor(left / size)}${unit}`;
    left %= size;
  }
  return text || '0s';
}
