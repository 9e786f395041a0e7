/**
 * Packing a prompt: what is wanted, by whom and how much, made into messages that fit a budget. It is never
 * over the budget [PP1]; the same parts make the same prompt [PP2]; every cut is marked and told [PP3].
 */
import { createHash } from 'node:crypto';
import { cutToFit } from './cut.ts';
import { cutMark, fence } from './fence.ts';
import { charsOf, type Prepared, prepareParts } from './prepare-parts.ts';
import { PromptError, type WantedTokens } from './prompt-error.ts';
import type { Draft, Unit } from './prompt-items.ts';
import type {
  DroppedPart,
  PackedPrompt,
  PackOptions,
  PromptMessage,
  Tokenizer,
  TruncatedPart,
} from './prompt-types.ts';

const OVERHEAD = { message: 4, prompt: 3 };
/** A text with more characters than this for each token of its room is not counted whole. */
const TOKEN_CHARS_MOST = 128;

interface Packed {
  readonly messages: readonly PromptMessage[];
  readonly tokens: number;
  readonly truncated: TruncatedPart | null;
}

/**
 * Makes messages of parts, within a budget of tokens. Parts of higher priority are given room first; each gets at
 * least its `min`. What does not fit is cut, with a mark, or dropped, and told either way.
 *
 * @example
 * ```ts
 * import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
 *
 * const prompt = await packPrompt({
 *   budget: 8_000,
 *   tokenizer: countTokens,
 *   parts: [
 *     { label: 'rules', text: 'You review patches.', trust: 'trusted', priority: 10, min: 50 },
 *     { label: 'history', items, trust: 'trusted', priority: 5 },
 *     { label: 'issue 42', text: issue, trust: 'untrusted', max: 2_000, cut: 'middle' },
 *   ],
 * });
 * await model(prompt.messages);
 * ```
 */
export async function packPrompt(options: PackOptions): Promise<PackedPrompt> {
  const { budget, overhead = OVERHEAD } = options;
  const { parts, dropped, redacted, nonce } = await prepareParts(options);
  const packer = createPacker(countingOf(options.tokenizer), overhead.message, nonce);
  const left: DroppedPart[] = [...dropped];
  const wants = parts.filter(({ min }) => min > 0).map((part) => packer.leastOf(part));
  let room = budget - overhead.prompt - wants.reduce((sum, { tokens }) => sum + tokens, 0);
  if (room < 0) throw tooSmall(budget, overhead.prompt, wants);
  const kept = new Map(wants.map(({ label, tokens }) => [label, tokens]));
  const packed = new Map<string, Packed>();
  for (const part of parts.toSorted((a, b) => b.priority - a.priority)) {
    const own = kept.get(part.label) ?? 0;
    const one = packer.pack(part, Math.min(room + own, Math.max(own, part.max)));
    if (one === null) {
      left.push({ label: part.label, why: 'budget', characters: charsOf(part) });
      continue;
    }
    room += own - one.tokens;
    packed.set(part.label, one);
  }
  const labels = ordered(parts, options.order ?? 'given').filter((label) => packed.has(label));
  const found = labels.map((label) => packed.get(label) as Packed);
  const messages = found.flatMap((one) => one.messages);
  return {
    messages,
    used: found.reduce((sum, { tokens }) => sum + tokens, overhead.prompt),
    dropped: left,
    truncated: found.flatMap(({ truncated }) => truncated ?? []),
    redacted,
    hash: hashOf(messages),
  };
}

interface Packer {
  /** What fits into so many tokens; null when nothing of it does. */
  pack(part: Prepared, tokens: number): Packed | null;
  /** Tokens that it gets at least, its fence and a mark included. */
  leastOf(part: Prepared): WantedTokens;
}

function createPacker(count: Tokenizer, around: number, nonce: string): Packer {
  const render = ({ head, text, isFenced }: Draft, label: string): string => {
    const body = isFenced ? fence(text, label, nonce) : text;
    return head === '' ? body : `${head}\n${body}`;
  };
  const messagesOf = (unit: Unit, label: string): PromptMessage[] =>
    unit.map((draft) => ({ role: draft.role, content: render(draft, label), label }));
  const costOf = (messages: readonly PromptMessage[]): number =>
    messages.reduce((sum, { content }) => sum + around + count(content), 0);

  /** The longest of them is cut; the others stay whole. */
  function cutUnit(unit: Unit, part: Prepared, tokens: number) {
    const { label, side } = part;
    const longest = unit.toSorted((a, b) => b.text.length - a.text.length)[0] as Draft;
    const rest = unit.filter((one) => one !== longest);
    const room = tokens - costOf(messagesOf(rest, label)) - around;
    const cut = cutToFit(longest.text, side, nonce, (text) => {
      return count(render({ ...longest, text }, label)) <= room;
    });
    if (cut === null) return null;
    const drafts = unit.map((one) => (one === longest ? { ...one, text: cut.text } : one));
    return { messages: messagesOf(drafts, label), kept: cut.kept, of: longest.text.length };
  }

  function packText(part: Prepared, tokens: number): Packed | null {
    const [unit = []] = part.units;
    const chars = unit.reduce((sum, { text }) => sum + text.length, 0);
    if (chars <= tokens * TOKEN_CHARS_MOST) {
      const messages = messagesOf(unit, part.label);
      const whole = costOf(messages);
      if (whole <= tokens) return { messages, tokens: whole, truncated: null };
    }
    const cut = cutUnit(unit, part, tokens);
    if (cut === null) return null;
    const { messages, kept, of } = cut;
    const truncated = { label: part.label, unit: 'characters', kept, of } as const;
    return { messages, tokens: costOf(messages), truncated };
  }

  /** The newest that fit, after a mark that says how many do not. */
  function packHistory(part: Prepared, tokens: number): Packed | null {
    const { units, label } = part;
    const markOf = (left: number): PromptMessage[] => {
      const what = left === 1 ? 'earlier item' : 'earlier items';
      return left === 0 ? [] : [{ role: 'user', content: cutMark(left, what, nonce), label }];
    };
    const all = units.flat().length;
    let kept: PromptMessage[] = [];
    let cost = 0;
    for (const unit of units.toReversed()) {
      const messages = messagesOf(unit, label);
      const more = cost + costOf(messages);
      const left = all - kept.length - messages.length;
      if (more + costOf(markOf(left)) > tokens) break;
      kept = [...messages, ...kept];
      cost = more;
    }
    const left = all - kept.length;
    const truncated = { label, unit: 'items', kept: kept.length, of: all } as const;
    if (kept.length > 0) {
      const messages = [...markOf(left), ...kept];
      return { messages, tokens: costOf(messages), truncated: left === 0 ? null : truncated };
    }
    const newest = units.at(-1) ?? [];
    const mark = markOf(all - newest.length);
    const cut = cutUnit(newest, part, tokens - costOf(mark));
    if (cut === null) return null;
    const messages = [...mark, ...cut.messages];
    return { messages, tokens: costOf(messages), truncated: { ...truncated, kept: newest.length } };
  }

  const pack: Packer['pack'] = (part, tokens) =>
    part.isHistory ? packHistory(part, tokens) : packText(part, tokens);

  return {
    pack,
    leastOf(part) {
      const { label, min } = part;
      const packed = pack(part, min);
      if (packed !== null)
        return { label, tokens: packed.truncated === null ? packed.tokens : min };
      // So little is not even its fence and a mark.
      let [low, high] = [min, 2 * min + around];
      while (pack(part, high) === null) [low, high] = [high, 2 * high];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (pack(part, middle) === null) low = middle;
        else high = middle;
      }
      return { label, tokens: high };
    },
  };
}

/** Believes no tokenizer that throws or says no number. */
function countingOf(tokenizer: Tokenizer): Tokenizer {
  return (text) => {
    let count: number;
    try {
      count = tokenizer(text);
    } catch (cause) {
      const message = 'the tokenizer threw: tell it to take any text, also special tokens';
      throw new PromptError(message, { code: 'prompt.tokenizer', cause });
    }
    if (Number.isSafeInteger(count) && count >= 0) return count;
    const message = `the tokenizer said ${count}, which is no count`;
    throw new PromptError(message, { code: 'prompt.tokenizer' });
  };
}

function ordered(
  parts: readonly Prepared[],
  order: NonNullable<PackOptions['order']>,
): readonly string[] {
  const given = parts.map(({ label }) => label);
  if (order === 'given') return given;
  if (order === 'priority') {
    return parts.toSorted((a, b) => b.priority - a.priority).map(({ label }) => label);
  }
  return [...new Set([...order, ...given])];
}

function hashOf(messages: readonly PromptMessage[]): string {
  const said = messages.map(({ role, content }) => [role, content]);
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

function tooSmall(budget: number, around: number, wants: readonly WantedTokens[]): PromptError {
  const each = wants.map(({ label, tokens }) => `${label} wants ${tokens}`).join(', ');
  const sum = wants.reduce((all, { tokens }) => all + tokens, around);
  const message = `the budget is ${budget} tokens, and at least ${sum} are wanted: ${each}, and ${around} around them`;
  return new PromptError(message, { code: 'prompt.budget', wants });
}
