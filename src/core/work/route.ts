/**
 * Routing: the best agent for a piece of work among those that are there, said with
 * its reasons [CA5]. Idle before busy, then what it can do, then how little it holds,
 * then its name; no agent that can do none of what is asked. It chooses, and binds nobody.
 */
import type { Card } from './card.ts';
import { RUNNERS_UP_MAX } from './work-limits.ts';

export type TaskClass = 'rule' | 'slm' | 'heavy';

/** `blocked`: waits for a person. `stale`: silent for a while. `gone`: not there. */
export type Availability = 'idle' | 'busy' | 'blocked' | 'stale' | 'gone';

export interface RouteFacts {
  availabilityOf(agent: string): Availability;
  /** How many live claims it holds. */
  claimsOf(agent: string): number;
}

export interface RouteWish {
  /** A class of work; absent: read from the text, or none. */
  readonly class?: string | undefined;
  /** Ids, names or tags of skills. */
  readonly skills?: readonly string[] | undefined;
  readonly text?: string | undefined;
}

export interface Candidate {
  readonly agent: string;
  readonly availability: Availability;
  readonly claims: number;
  /** What of the wish its card meets. */
  readonly matches: readonly string[];
  /** What was asked for by name and is not on its card. */
  readonly missing: readonly string[];
  readonly why: string;
}

export interface Route {
  readonly class: string | null;
  readonly chosen: Candidate | null;
  readonly runnersUp: readonly Candidate[];
  /** Why this one, or why nobody. */
  readonly why: string;
}

const ORDER: Readonly<Record<Availability, number>> = {
  idle: 0,
  busy: 1,
  blocked: 2,
  stale: 3,
  gone: 4,
};

const SHORT_CHARS_MAX = 24;
const LONG_CHARS_MIN = 240;
// At the beginning of a word: `refactoring` is hard work, `improve` is no proof.
const HARD =
  /\b(?:design|architecture|prove|proof|refactor|analy[sz]e|optimi[sz]e|derive|algorithm|strategy|trade-?off|benchmark|complexity|investigate)/i;

// `c++`, `c#` and `node.js` are words; the full stop after one is not part of it.
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}+#]|[._-](?=[\p{L}\p{N}]))*/gu;

/** How heavy a model a request needs: none, a small one, a large one [CA4]. Give it the bare request, not a prompt around it. */
export function classifyText(text: string): TaskClass {
  const bare = text.trim();
  if (bare.length <= SHORT_CHARS_MAX) return 'rule';
  return bare.length >= LONG_CHARS_MIN || HARD.test(bare) ? 'heavy' : 'slm';
}

export function routeTask(wish: RouteWish, cards: Iterable<Card>, facts: RouteFacts): Route {
  const taskClass = wish.class ?? (wish.text === undefined ? null : classifyText(wish.text));
  const able: Candidate[] = [];
  let gone = 0;
  let unable = 0;
  for (const card of cards) {
    const candidate = judge(card, taskClass, wish, facts);
    if (candidate === null) unable++;
    else if (candidate.availability === 'gone') gone++;
    else able.push(candidate);
  }
  able.sort(compare);
  const [chosen = null, ...others] = able;
  const turnedDown = `${unable} cannot do it, ${gone} could but are gone`;
  const why =
    chosen === null
      ? `nobody: of ${unable + gone} cards ${turnedDown}`
      : `${chosen.agent} is ${chosen.why}; ${others.length} more could, ${turnedDown}`;
  return { class: taskClass, chosen, runnersUp: others.slice(0, RUNNERS_UP_MAX), why };
}

/** Null when the card meets nothing of what is asked. */
function judge(
  card: Card,
  taskClass: string | null,
  wish: RouteWish,
  facts: RouteFacts,
): Candidate | null {
  const { agent } = card;
  const matches: string[] = [];
  // A card without classes takes any; one that names the class is the better match.
  if (taskClass !== null && card.taskClasses.length > 0) {
    if (!card.taskClasses.includes(taskClass)) return null;
    matches.push(`class ${taskClass}`);
  }
  const words = wordsOf(card);
  const wanted = [...new Set((wish.skills ?? []).map((skill) => skill.trim().toLowerCase()))];
  const missing = wanted.filter((skill) => !words.has(skill));
  if (wanted.length > 0 && missing.length === wanted.length) return null;
  for (const skill of wanted) if (words.has(skill)) matches.push(`skill ${skill}`);
  const said = new Set(wish.text?.toLowerCase().match(WORD));
  for (const word of words) {
    if (said.has(word) && !wanted.includes(word)) matches.push(`word ${word}`);
  }
  const availability = facts.availabilityOf(agent);
  const claims = facts.claimsOf(agent);
  const can = matches.length > 0 ? `matches ${matches.join(', ')}` : 'takes any work';
  const lacks = missing.length > 0 ? `, lacks ${missing.join(', ')}` : '';
  const holds = claims === 1 ? 'holds 1 claim' : `holds ${claims} claims`;
  const why = `${availability}, ${can}${lacks}, ${holds}`;
  return { agent, availability, claims, matches, missing, why };
}

function compare(a: Candidate, b: Candidate): number {
  return (
    ORDER[a.availability] - ORDER[b.availability] ||
    b.matches.length - a.matches.length ||
    a.claims - b.claims ||
    (a.agent < b.agent ? -1 : 1)
  );
}

function wordsOf(card: Card): Set<string> {
  const words = new Set<string>();
  for (const { id, name, tags } of card.skills) {
    for (const word of [id, name, ...tags]) words.add(word.toLowerCase());
  }
  return words;
}
