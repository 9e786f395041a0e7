/**
 * What a coding agent's model pays for: an answer without what no model acts on. Of a message it
 * keeps who, where, when, whose word it is, and what was said; one's own words are drained and not shown
 * [MC16]. Everything else passes as it is, and `--whole` has all of it as SOX words it.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { type Fields, isFields } from '../../wire/fields.ts';

/** Operations whose answers are shortened, and so have no output schema to be held to. */
const SHORTENED: ReadonlySet<string> = new Set([
  'channels__recv',
  'channels__send',
  'channels__subscribe',
]);

export function briefTools(tools: readonly Tool[]): readonly Tool[] {
  return tools.map((tool) => {
    if (!SHORTENED.has(tool.name)) return tool;
    const { outputSchema: _, ...rest } = tool;
    return rest;
  });
}

/** `me` is null where only the hub knows it. */
export function briefAnswer(
  name: string,
  input: unknown,
  answer: Fields,
  me: string | null,
): Fields {
  switch (name) {
    case 'recv':
      return briefRecv(answer, me);
    case 'send': {
      const { backpressure, sent_at: _, ...rest } = answer;
      const isCalm = isFields(backpressure) && backpressure.state === 'ok';
      return isCalm ? rest : { ...rest, backpressure };
    }
    case 'subscribe': {
      const { subscribed } = answer;
      if (!Array.isArray(subscribed) || subscribed.length > 0) return answer;
      const pattern = isFields(input) ? input.pattern : undefined;
      return {
        subscribed_to: pattern,
        note: 'no channel of that name yet; what is sent there will be yours',
      };
    }
    default:
      return answer;
  }
}

function briefRecv(answer: Fields, me: string | null): Fields {
  const { messages, lease_until: until } = answer;
  const all = Array.isArray(messages) ? messages.filter(isFields) : [];
  const others = all.filter(({ sender }) => me === null || sender !== me);
  return {
    messages: others.map(briefMessage),
    ...(others.length < all.length && { own_not_shown: all.length - others.length }),
    ...(until !== undefined && { lease_until: until }),
  };
}

function briefMessage(message: Fields): Fields {
  const { _meta: meta, ancestors, ts, seq, delivered_to, origin_server, ...rest } = message;
  const { standing, actor } = isFields(meta) ? meta : {};
  const kept = Object.entries({ ...rest, standing, actor }).filter(([, value]) => value != null);
  const above = Array.isArray(ancestors) ? ancestors.filter(isFields).map(briefMessage) : [];
  return { ...Object.fromEntries(kept), ...(above.length > 0 && { ancestors: above }) };
}
