/**
 * A snapshot of context as a part of a prompt: a line for each key, by name or in the order that is wished for.
 * A snapshot never changes, so the prompt can be packed again to the byte. Others wrote it: unless the caller
 * vouches for the namespace, it is not trusted.
 */
import type { ContextSnapshot } from './context.ts';
import type { PromptTrust, TextPart } from './prompt-types.ts';

/**
 * Which values of a context become a part of a prompt, and how it is called.
 *
 * @example
 * ```ts
 * const only: ContextPartOptions = { keys: ['goal', 'rules'], priority: 5 };
 * ```
 */
export interface ContextPartOptions extends Omit<TextPart, 'text' | 'trust' | 'label'> {
  /** What the part is called; the namespace and the position unless it says. */
  readonly label?: string;
  readonly trust?: PromptTrust;
  /** These keys, in this order, as far as they are there; omitted: all, by name. */
  readonly keys?: readonly string[];
  /** Only keys that begin with it. */
  readonly prefix?: string;
}

/**
 * What a namespace held at a snapshot, to be packed.
 *
 * @example
 * ```ts
 * const plan = createContext<Plan>(client, 'plan');
 * const part = await contextPart(await plan.snapshot(), { keys: ['goal'], priority: 5 });
 * await packPrompt({ budget: 4_000, tokenizer, parts: [rules, part] });
 * ```
 */
export async function contextPart<Values>(
  snapshot: ContextSnapshot<Values>,
  options: ContextPartOptions = {},
): Promise<TextPart> {
  const { keys, prefix = '', label, trust = 'untrusted', ...rest } = options;
  const entries = (await snapshot.entries(prefix)) as ReadonlyMap<string, unknown>;
  const shown = keys?.filter((key) => entries.has(key)) ?? [...entries.keys()];
  const text = shown.map((key) => `${key}: ${JSON.stringify(entries.get(key))}`).join('\n');
  return { label: label ?? `${snapshot.ns} at ${snapshot.position}`, text, trust, ...rest };
}
