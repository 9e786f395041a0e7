/**
 * What must hold of the answers of a story together.
 *
 * The names follow the fixture sheet. Each check reads the answers of the steps
 * it names and reports faults as sentences. A step that is missing, or that did
 * not answer with messages, is a fault and never a pass.
 */

import { isObject } from './match.ts';

export type Check =
  | { readonly check: 'no_loss'; readonly step: string; readonly min: number }
  | { readonly check: 'independent_delivery'; readonly step: string; readonly min: number }
  | { readonly check: 'no_duplication'; readonly step: string }
  | { readonly check: 'no_redelivery'; readonly step: string }
  | {
      readonly check: 'received_count';
      readonly step: string;
      readonly min: number;
      readonly max: number;
    }
  | {
      readonly check: 'ordering';
      readonly step: string;
      readonly channel: string;
      readonly by: 'seq' | 'sent_at';
    }
  | { readonly check: 'body_seq_ascending'; readonly step: string; readonly field: string }
  | { readonly check: 'no_channel_leak'; readonly step: string; readonly channel: string }
  | {
      readonly check: 'all_channels_match_pattern';
      readonly step: string;
      readonly pattern: string;
    }
  | {
      readonly check: 'all_receivers_got_message';
      readonly sent: string;
      readonly steps: readonly string[];
    }
  | {
      readonly check: 'all_writers_represented';
      readonly step: string;
      readonly field: string;
      readonly writers: readonly string[];
    }
  | { readonly check: 'message_id_present'; readonly step: string; readonly sent: string };

type Answers = ReadonlyMap<string, Readonly<Record<string, unknown>>>;
type Message = Readonly<Record<string, unknown>>;

/** The faults found; none means the check holds. */
export function faultsOf(check: Check, answers: Answers): readonly string[] {
  if (check.check === 'all_receivers_got_message') {
    return check.steps.flatMap((step) => missing(answers, step, check.sent));
  }
  const messages = messagesOf(answers, check.step);
  if (messages === undefined) return [`${check.check}: ${check.step} answered no messages`];
  const fault = (holds: boolean, why: string) =>
    holds ? [] : [`${check.check}: ${check.step} ${why}`];
  const count = messages.length;
  // biome-ignore lint/nursery/useExhaustiveSwitchCases: the one that is missing was answered above.
  switch (check.check) {
    case 'no_loss':
    case 'independent_delivery':
      return fault(count >= check.min, `got ${count} of at least ${check.min}`);
    case 'no_redelivery':
      return fault(count === 0, `got ${count} message(s) again`);
    case 'received_count':
      return fault(
        count >= check.min && count <= check.max,
        `got ${count}, wanted ${check.min} to ${check.max}`,
      );
    case 'no_duplication': {
      const ids = messages.map((message) => message.message_id);
      return fault(new Set(ids).size === count, `got an id twice in ${ids.join(', ')}`);
    }
    case 'ordering': {
      const own = messages.filter((message) => message.channel === check.channel);
      const keys = own.map((message) => message[check.by]);
      return [
        ...fault(own.length > 0, `got nothing of ${check.channel} to order`),
        ...fault(isAscending(keys, check.by === 'seq'), `is out of order: ${keys.join(', ')}`),
      ];
    }
    case 'body_seq_ascending': {
      const keys = messages.map((message) => bodyField(message, check.field));
      return [
        ...fault(count > 0, 'got nothing to order'),
        ...fault(isAscending(keys, true), `is out of order: ${keys.join(', ')}`),
      ];
    }
    case 'no_channel_leak':
      return fault(
        messages.every((message) => message.channel !== check.channel),
        `got a message of ${check.channel}`,
      );
    case 'all_channels_match_pattern': {
      const prefix = check.pattern.replace(/\*$/u, '');
      return fault(
        messages.every((message) => String(message.channel).startsWith(prefix)),
        `got a message outside ${check.pattern}`,
      );
    }
    case 'all_writers_represented': {
      const seen = new Set(messages.map((message) => bodyField(message, check.field)));
      return check.writers.flatMap((writer) =>
        fault(seen.has(writer), `got nothing written by ${writer}`),
      );
    }
    case 'message_id_present':
      return missing(answers, check.step, check.sent);
  }
}

function missing(answers: Answers, step: string, sent: string): readonly string[] {
  const id = answers.get(sent)?.message_id;
  if (typeof id !== 'string') return [`${sent} has no message_id to look for`];
  const found = (messagesOf(answers, step) ?? []).some((message) => message.message_id === id);
  return found ? [] : [`${step} did not get message ${id} of ${sent}`];
}

function messagesOf(answers: Answers, step: string): readonly Message[] | undefined {
  const messages = answers.get(step)?.messages;
  return Array.isArray(messages) && messages.every(isObject) ? messages : undefined;
}

function bodyField(message: Message, field: string): unknown {
  const body = message.body;
  return isObject(body) ? body[field] : undefined;
}

function isAscending(keys: readonly unknown[], strictly: boolean): boolean {
  return keys.every((key, at) => {
    if (typeof key !== 'number') return false;
    const before = at === 0 ? undefined : (keys[at - 1] as number);
    return before === undefined || (strictly ? before < key : before <= key);
  });
}
