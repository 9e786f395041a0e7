/**
 * Search: what the caller may read is said to the index as channels and positions, and what it finds is read
 * from the log and held to the same rule as any message before it is shown [FT1].
 */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { toChannel } from '../../../core/law/name.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { channelWith, checkPast, checkRead } from '../../../core/talk/channel.ts';
import { messageId, parseMessageId } from '../../../core/talk/message-id.ts';
import type { TextMessage } from '../../../hub/message-store.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type { searchMessages } from '../../../wire/operations/search.ts';
import { parseSearch } from '../../../wire/search-query.ts';
import { envelopeFieldsText, standingFieldsText } from '../envelope.ts';
import { outputFromText } from '../output-text.ts';
import type { Handlers, Room } from '../room.ts';
import type { ChannelPart, Excerpt, SearchScope } from '../search-port.ts';
import { mayRead, mayRecall } from './message-lookup.ts';

type Input = ParsedInputOf<typeof searchMessages>;
type Output = OutputOf<typeof searchMessages>;

/** What one answer holds of stored text; the rest is on the next page. */
const ANSWER_CHARS_MAX = 1024 * 1024;
/** Bodies may be large: so many are read at once. */
const READ_AT_ONCE = 8;

export const searchHandlers: Handlers<'search.messages'> = {
  async 'search.messages'(room, input) {
    const { hub, by, platform } = room;
    const parsed = parseSearch(input.query, input);
    if (isRefusal(parsed)) return parsed;
    const { search } = platform;
    if (search === undefined) return refuse('search.unavailable', 'this hub keeps no index');
    const whose = `${room.caller.space}/${by.id}`;
    const state = await search.reach(hub, whose);
    if (isRefusal(state)) return state;
    const { channel } = parsed;
    const scope = await hub.ask((world) =>
      channel === null ? scopeOf(world, by, state.guarded) : scopeIn(world, by, channel),
    );
    if (isRefusal(scope)) return scope;
    const range = await rangeOf(room, input);
    if (isRefusal(range)) return range;
    const limit = input.limit + 1;
    const found = await search.find(hub, whose, { query: parsed, scope, ...range, limit });
    if (isRefusal(found)) return found;
    const page = await readPage(room, found.slice(0, input.limit));
    if (isRefusal(page)) return page;
    const bodies = page.messages.map(({ body }) => body);
    const excerpts = await search.excerpts(whose, parsed, bodies);
    if (isRefusal(excerpts)) return excerpts;
    const hasMore = page.through < found.length;
    const next = hasMore ? (found[page.through - 1] ?? null) : null;
    return toOutput(page.messages, excerpts, { next, isComplete: state.isComplete });
  },
};

/** Everything the caller may read [FT1]. */
function scopeOf(world: WorldView, by: Principal, guarded: readonly string[]): SearchScope {
  const except = guarded.filter((name) => checkPast(world, by, name) !== null);
  const parts = except.flatMap((name) => partsOf(world, by, name));
  for (const { id, members } of world.groups.values()) {
    if (members.get(by.id)?.status === 'active' && !except.includes(id)) {
      parts.push(...partsOf(world, by, id));
    }
  }
  parts.push(...partsOf(world, by, toChannel(by.id)));
  return { hasOpen: true, partyOf: by.id, except, parts };
}

function scopeIn(world: WorldView, by: Principal, channel: string): SearchScope | Refusal {
  const unreadable = checkRead(world, by, channel);
  if (unreadable !== null) return unreadable;
  return { hasOpen: false, partyOf: null, except: [], parts: partsOf(world, by, channel) };
}

/** What of one channel: all of it, or, where its past is kept from the caller, what was said to or by it [RP3]. */
function partsOf(world: WorldView, by: Principal, name: string): ChannelPart[] {
  const channel = world.channels.get(name);
  if (channel === undefined || checkRead(world, by, name) !== null) return [];
  const whole = { channel: name, after: -1, author: null };
  if (checkPast(world, by, name) === null) return [whole];
  const from = channel.members.get(by.id)?.from;
  const own = { ...whole, author: by.id };
  if (from === undefined) return [own];
  return [own, { ...whole, after: from === 0 ? -1 : channel.positions.at(from) }];
}

async function rangeOf(
  { hub }: Room,
  { since, until, after }: Input,
): Promise<{ above: number; below: number } | Refusal> {
  const cursor = after === undefined ? Number.MAX_SAFE_INTEGER : parseMessageId(after);
  if (cursor === null) {
    return refuse('input.invalid', 'after is no `next` of a page: leave it out to begin anew', {
      violations: [{ field: 'after', issue: 'is no cursor of a search' }],
    });
  }
  const above = since === undefined ? -1 : (await hub.positionAt(since * 1000)) - 1;
  const end = until === undefined ? cursor : await hub.positionAt(until * 1000);
  return { above, below: Math.min(cursor, end) };
}

interface ReadPage {
  readonly messages: readonly TextMessage[];
  /** How many of the positions were looked at. */
  readonly through: number;
}

/** As many as fit; one at least. */
async function readPage({ hub, by }: Room, found: readonly number[]): Promise<ReadPage | Refusal> {
  const messages: TextMessage[] = [];
  let chars = 0;
  let through = 0;
  while (through < found.length) {
    const read = await hub.messageTexts(found.slice(through, through + READ_AT_ONCE));
    const shown = await hub.ask((world) =>
      read.map((one) => one !== null && isShown(world, by, one)),
    );
    if (isRefusal(shown)) return shown;
    for (const [i, message] of read.entries()) {
      if (message !== null && shown[i]) {
        chars += message.chars;
        if (messages.length > 0 && chars > ANSWER_CHARS_MAX) return { messages, through };
        messages.push(message);
      }
      through++;
    }
  }
  return { messages, through };
}

/** What was asked of the index, asked again of the law: it is the law that shows a message. */
function isShown(world: WorldView, by: Principal, message: TextMessage): boolean {
  const isThere = channelWith(world, message) !== undefined && !message.dropped;
  return isThere && mayRead(world, by, message) && mayRecall(world, by, message);
}

function toOutput(
  messages: readonly TextMessage[],
  excerpts: readonly Excerpt[],
  { next, isComplete }: { readonly next: number | null; readonly isComplete: boolean },
): Output {
  const rows = messages.map((message, i) => {
    const { text, found } = excerpts[i] ?? { text: '', found: [] };
    const part = `"excerpt":${JSON.stringify(text)},"found":${JSON.stringify(found)}`;
    return `{${envelopeFieldsText(message)},${standingFieldsText(message)},${part}}`;
  });
  const cursor = next === null ? 'null' : `"${messageId(next)}"`;
  return outputFromText<Output>(
    `{"messages":[${rows.join(',')}],"next":${cursor},"complete":${isComplete}}`,
    ['messages', 'next', 'complete'],
  );
}
