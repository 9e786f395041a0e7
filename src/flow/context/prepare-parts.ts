/**
 * Parts as they will stand in a prompt, before it is known how much of each there is room for: looked at,
 * read, cleaned, and those that say the same left out but for one [PP2].
 */
import { type Cleaner, createCleaner, SECRET_CHARS_MIN } from './clean-text.ts';
import { createNonce } from './fence.ts';
import { PromptError } from './prompt-error.ts';
import { type Draft, type Unit, unitsOf } from './prompt-items.ts';
import type { DroppedPart, PackOptions, PromptPart, RedactedSecret } from './prompt-types.ts';

export interface Prepared {
  readonly label: string;
  readonly priority: number;
  readonly min: number;
  readonly max: number;
  readonly side: 'end' | 'start' | 'middle';
  readonly units: readonly Unit[];
  readonly isHistory: boolean;
}

export interface Preparation {
  readonly parts: readonly Prepared[];
  readonly dropped: readonly DroppedPart[];
  readonly redacted: readonly RedactedSecret[];
  readonly nonce: string;
}

const FILE_BYTES = 1_048_576;

export async function prepareParts(options: PackOptions): Promise<Preparation> {
  const { parts, secrets = [] } = options;
  checkOptions(options);
  const clean = createCleaner(secrets);
  const ready: { part: PromptPart; prepared: Prepared }[] = [];
  for (const part of parts) ready.push({ part, prepared: await prepare(part, options, clean) });
  const texts = ready.flatMap(({ prepared }) => [
    prepared.label,
    ...prepared.units.flat().flatMap(({ head, text }) => [head, text]),
  ]);
  const dropped: DroppedPart[] = [];
  const firsts = firstOf(ready);
  const kept = ready.flatMap(({ part, prepared }) => {
    const { label, units } = prepared;
    if (units.flat().every(({ text }) => text.trim() === '')) {
      dropped.push({ label, why: 'empty', characters: 0 });
      return [];
    }
    const first = firsts.get(sayingOf(part, prepared) ?? '');
    if (first === undefined || first.label === label) {
      // Whoever asks for so much of it gets it, also from another part that says the same.
      return [first === undefined ? prepared : { ...prepared, min: first.min }];
    }
    dropped.push({ label, why: 'duplicate', characters: charsOf(prepared), of: first.label });
    return [];
  });
  return { parts: kept, dropped, redacted: clean.redacted, nonce: createNonce(texts) };
}

export function charsOf({ units }: Prepared): number {
  return units.flat().reduce((sum, { text }) => sum + text.length, 0);
}

/** By what is said, who says it: a trusted part before one that is not, then by priority. */
function firstOf(
  ready: readonly { part: PromptPart; prepared: Prepared }[],
): Map<string, { readonly label: string; readonly min: number }> {
  const firsts = new Map<string, { label: string; min: number }>();
  const rank = ({ part }: { part: PromptPart }): number => (part.trust === 'trusted' ? 0 : 1);
  const sorted = ready.toSorted(
    (a, b) => rank(a) - rank(b) || b.prepared.priority - a.prepared.priority,
  );
  for (const { part, prepared } of sorted) {
    const saying = sayingOf(part, prepared);
    if (saying === null) continue;
    const { label, min, max } = prepared;
    const known = firsts.get(saying);
    if (known === undefined) firsts.set(saying, { label, min });
    else known.min = Math.max(known.min, Math.min(min, max));
  }
  return firsts;
}

/** A history may repeat itself; a text says the same as another when it is the same text. */
function sayingOf(part: PromptPart, { units }: Prepared): string | null {
  return 'items' in part ? null : (units[0]?.[0]?.text.trim() ?? null);
}

async function prepare(part: PromptPart, options: PackOptions, clean: Cleaner): Promise<Prepared> {
  const { label, trust, priority = 0, min = 0, max = Number.POSITIVE_INFINITY, cut = 'end' } = part;
  const units = 'items' in part ? unitsOf(part.items, trust) : [[await draftOf(part, options)]];
  return {
    ...{ label, priority, min, max, side: cut, isHistory: 'items' in part },
    units: units.map((unit) =>
      unit.map((draft) => ({
        ...draft,
        text: clean(draft.text, label, draft.isFenced ? 'untrusted' : trust),
      })),
    ),
  };
}

async function draftOf(
  part: Exclude<PromptPart, { readonly items: unknown }>,
  options: PackOptions,
): Promise<Draft> {
  const isFenced = part.trust === 'untrusted';
  const role = part.role ?? (isFenced ? 'user' : 'system');
  const text = 'file' in part ? await readText(part.file, part.label, options) : part.text;
  return { role, head: '', text, isFenced };
}

async function readText(path: string, label: string, options: PackOptions): Promise<string> {
  const { guard, fileBytes = FILE_BYTES } = options;
  if (guard === undefined) {
    const message = `${label} names a file, and files are read through a guard: pass one`;
    throw new PromptError(message, { code: 'prompt.file' });
  }
  const bytes = await guard.readFile(path, { maxBytes: fileBytes });
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\u0000')) return text;
  } catch (cause) {
    throw new PromptError(`${label} is no text in UTF-8`, { code: 'prompt.file', cause });
  }
  throw new PromptError(`${label} is no text: it has a zero byte`, { code: 'prompt.file' });
}

function checkOptions({ budget, parts, secrets = [], overhead, order }: PackOptions): void {
  if (!Number.isSafeInteger(budget) || budget < 1) invalid('budget', 'is a whole number of tokens');
  if (secrets.some((word) => word.length < SECRET_CHARS_MIN)) {
    invalid('secrets', `have at least ${SECRET_CHARS_MIN} characters`);
  }
  for (const one of overhead === undefined ? [] : [overhead.message, overhead.prompt]) {
    if (!Number.isSafeInteger(one) || one < 0) invalid('overhead', 'is a whole number of tokens');
  }
  const labels = new Set<string>();
  for (const part of parts) {
    const { label } = part;
    if (typeof label !== 'string' || label === '') invalid('label', 'says what the part is called');
    if (labels.has(label)) invalid(label, 'is the label of two parts');
    labels.add(label);
    checkPart(part);
  }
  const strange = Array.isArray(order) ? order.find((label) => !labels.has(label)) : undefined;
  if (strange !== undefined) invalid(strange, 'is in order and is the label of no part');
}

function checkPart(part: PromptPart): void {
  const { label, trust, priority = 0, min = 0, max = Number.POSITIVE_INFINITY } = part;
  const sources = ['text', 'file', 'items'].filter((name) => name in part);
  if (sources.length !== 1) invalid(label, 'has a text, a file or items, and one of them');
  const source = (part as unknown as Record<string, unknown>)[sources[0] as string];
  if ('items' in part ? !Array.isArray(source) : typeof source !== 'string') {
    invalid(label, `has ${sources[0]} of another kind`);
  }
  if (trust !== 'trusted' && trust !== 'untrusted') {
    invalid(label, 'says whether it is trusted or untrusted');
  }
  if ('role' in part && part.role !== undefined && trust === 'untrusted' && part.role !== 'user') {
    invalid(label, `is untrusted and cannot speak as ${part.role}`);
  }
  if (!Number.isFinite(priority)) invalid(label, 'has a priority that is no number');
  if (!(Number.isSafeInteger(min) && min >= 0))
    invalid(label, 'has a min that is no count of tokens');
  if (!(max >= 1) || min > max) invalid(label, 'has a max below 1 or below its min');
}

function invalid(what: string, issue: string): never {
  throw new PromptError(`${what} ${issue}`, { code: 'prompt.invalid' });
}
