/**
 * The fields of a card: those of an A2A agent card (camel case, as there) and
 * `taskClasses`, `model`, `meta`. What comes in is trimmed, repeated tags are
 * dropped, and what is not text of a bounded size is refused [CA2].
 */
import { type Refusal, refuseFull } from '../law/decider.ts';
import { isLine, isPrintable, isProse, parseObjectText, utf8Bytes } from '../law/text.ts';
import { invalid } from '../law/writer.ts';
import { CARD_BYTES_MAX, CARD_LIST_MAX, CARD_SKILLS_MAX, META_BYTES_MAX } from './work-limits.ts';

export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

export interface AgentInterface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
  readonly tenant: string | null;
}

export interface Capabilities {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly extendedAgentCard: boolean;
  /** URIs. */
  readonly extensions: readonly string[];
}

export interface CardFields {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly supportedInterfaces: readonly AgentInterface[];
  readonly capabilities: Capabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly Skill[];
  readonly provider: { readonly organization: string; readonly url: string } | null;
  readonly documentationUrl: string | null;
  readonly iconUrl: string | null;
  /** Classes of work it takes, as `classifyText` names them or others; none: any. */
  readonly taskClasses: readonly string[];
  readonly model: string | null;
  /** JSON text of an object, or null. */
  readonly meta: string | null;
}

const WORD_CHARS_MAX = 128;
const URL_CHARS_MAX = 2_048;

/** The card in its one form, or why it is none. */
export function cleanCard(card: CardFields): CardFields | Refusal {
  const meta = card.meta === null ? null : parseObjectText(card.meta, META_BYTES_MAX);
  const clean: CardFields = {
    name: card.name.trim(),
    description: card.description.trim(),
    version: card.version.trim(),
    supportedInterfaces: card.supportedInterfaces.map(cleanInterface),
    capabilities: {
      streaming: card.capabilities.streaming,
      pushNotifications: card.capabilities.pushNotifications,
      extendedAgentCard: card.capabilities.extendedAgentCard,
      extensions: cleanWords(card.capabilities.extensions),
    },
    defaultInputModes: cleanWords(card.defaultInputModes),
    defaultOutputModes: cleanWords(card.defaultOutputModes),
    skills: card.skills.map(cleanSkill),
    provider: card.provider,
    documentationUrl: card.documentationUrl,
    iconUrl: card.iconUrl,
    taskClasses: cleanWords(card.taskClasses),
    model: card.model?.trim() || null,
    meta,
  };
  if (card.meta !== null && meta === null) {
    return invalid(`meta is a JSON object of at most ${META_BYTES_MAX} bytes with finite numbers`);
  }
  if (clean.skills.length > CARD_SKILLS_MAX) return refuseFull('CARD_SKILLS_MAX', CARD_SKILLS_MAX);
  if (listsOf(clean).some((list) => list.length > CARD_LIST_MAX)) {
    return refuseFull('CARD_LIST_MAX', CARD_LIST_MAX);
  }
  if (utf8Bytes(JSON.stringify(clean)) > CARD_BYTES_MAX) {
    return refuseFull('CARD_BYTES_MAX', CARD_BYTES_MAX);
  }
  const flaw = flawOf(clean);
  return flaw === null ? clean : invalid(flaw);
}

function flawOf(card: CardFields): string | null {
  if (!isPrintable(card.name, WORD_CHARS_MAX)) return 'a card has a name';
  const lines = [card.version, card.model ?? ''];
  for (const { id, name, description } of card.skills) {
    if (!isPrintable(id, WORD_CHARS_MAX)) return 'every skill has an id of printable characters';
    if (!isProse(description, CARD_BYTES_MAX)) return `the description of skill ${id} is not text`;
    lines.push(name);
  }
  if (new Set(card.skills.map((skill) => skill.id)).size < card.skills.length) {
    return 'two skills have the same id';
  }
  if (!isProse(card.description, CARD_BYTES_MAX)) return 'the description is not text';
  const words = listsOf(card).flat();
  const bad = [...lines, ...words].find((one) => !isLine(one, URL_CHARS_MAX));
  if (bad !== undefined) return `${JSON.stringify(bad.slice(0, 64))} is not one line of text`;
  if (card.provider !== null && !isLine(card.provider.organization, WORD_CHARS_MAX)) {
    return 'the organization of the provider is not one line of text';
  }
  for (const url of urlsOf(card)) {
    // Faces show these as links, so nothing that a browser would run.
    if (!/^https?:\/\//.test(url) || !isPrintable(url, URL_CHARS_MAX)) {
      return `${JSON.stringify(url.slice(0, 64))} is not an http address`;
    }
  }
  return null;
}

function urlsOf(card: CardFields): string[] {
  const urls = [card.provider?.url, card.documentationUrl, card.iconUrl].filter(
    (url) => url != null,
  );
  for (const one of card.supportedInterfaces) {
    // gRPC is addressed by host and port alone.
    if (one.protocolBinding !== 'GRPC') urls.push(one.url);
  }
  return urls;
}

function listsOf(card: CardFields): (readonly string[])[] {
  return [
    card.supportedInterfaces.flatMap((one) => [
      `${one.url} ${one.protocolBinding} ${one.protocolVersion} ${one.tenant ?? ''}`,
    ]),
    card.capabilities.extensions,
    card.defaultInputModes,
    card.defaultOutputModes,
    card.taskClasses,
    ...card.skills.flatMap((skill) => [
      skill.tags,
      skill.examples,
      skill.inputModes,
      skill.outputModes,
    ]),
  ];
}

function cleanSkill(skill: Skill): Skill {
  return {
    id: skill.id.trim(),
    name: skill.name.trim(),
    description: skill.description.trim(),
    tags: cleanWords(skill.tags),
    examples: cleanWords(skill.examples),
    inputModes: cleanWords(skill.inputModes),
    outputModes: cleanWords(skill.outputModes),
  };
}

function cleanInterface(one: AgentInterface): AgentInterface {
  return {
    url: one.url.trim(),
    protocolBinding: one.protocolBinding.trim(),
    protocolVersion: one.protocolVersion.trim(),
    tenant: one.tenant,
  };
}

function cleanWords(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => word.trim()))].filter((word) => word !== '');
}
