/**
 * Which tier answers a prompt, and which one when it cannot. A config names the tiers (an endpoint
 * or a set of rules), task classes, routes by length or keyword, and a default; the choice always
 * comes with its reason.
 */

import { isObject, type JsonObject, textAt } from '../process/json-object.ts';
import { type ChatOptions, readChatOptions } from './openai.ts';
import { ProgramConfigError } from './program-error.ts';
import { parsePattern, parseRuleSet, type RuleSet } from './rule.ts';

export type ModelTier =
  | { readonly kind: 'chat'; readonly chat: ChatOptions }
  | { readonly kind: 'rule'; readonly rules: RuleSet };

interface Route {
  readonly tier: string;
  readonly why: string;
  matches(prompt: string): boolean;
}

export interface ModelTiers {
  readonly tiers: ReadonlyMap<string, ModelTier>;
  readonly classes: ReadonlyMap<string, string>;
  readonly routes: readonly Route[];
  readonly otherwise: string;
  readonly fallback: ReadonlyMap<string, readonly string[]>;
}

export interface Choice {
  readonly tier: string;
  readonly why: string;
}

const PROMPT_CHARS_MAX = 64 * 1024;

/** The task class wins, then the first route that matches, then the default. */
export function chooseModelTier(
  config: ModelTiers,
  prompt: string,
  taskClass: string | null,
): Choice {
  const byClass = taskClass === null ? undefined : config.classes.get(taskClass);
  if (byClass !== undefined) return { tier: byClass, why: `task class ${taskClass}` };
  const unknown = taskClass === null ? '' : `task class ${taskClass} is not in the config; `;
  const text = prompt.slice(0, PROMPT_CHARS_MAX);
  const route = config.routes.find((one) => one.matches(text));
  if (route !== undefined) return { tier: route.tier, why: `${unknown}${route.why}` };
  return { tier: config.otherwise, why: `${unknown}the default` };
}

/** The other tiers in the order they are tried. */
export function fallbacksOf(config: ModelTiers, tier: string): readonly string[] {
  const named = config.fallback.get(tier);
  return named ?? [...config.tiers.keys()].filter((other) => other !== tier);
}

export function parseModelTiers(
  value: unknown,
  source: string,
  env: NodeJS.ProcessEnv,
): ModelTiers {
  const refuse = (what: string): never => {
    throw new ProgramConfigError(`${source}: ${what}`);
  };
  if (!isObject(value) || !isObject(value.tiers) || Object.keys(value.tiers).length === 0) {
    return refuse('tiers must name at least one tier');
  }
  const tiers = new Map(
    Object.entries(value.tiers).map(([name, tier]) => [
      name,
      parseModelTier(tier, `${source}: tiers.${name}`, env),
    ]),
  );
  const known = (tier: unknown, where: string): string =>
    typeof tier === 'string' && tiers.has(tier)
      ? tier
      : refuse(`${where} must be one of ${[...tiers.keys()].join(', ')}`);
  const classes = mapOf(value.classes, (tier, name) => known(tier, `classes.${name}`));
  const fallback = mapOf(value.fallback, (list, name) => {
    if (!Array.isArray(list)) return refuse(`fallback.${name} must be a list of tiers`);
    return list.map((tier, at) => known(tier, `fallback.${name}[${at}]`));
  });
  for (const name of fallback.keys()) known(name, `fallback.${name}`);
  const given = value.routes ?? [];
  if (!Array.isArray(given)) return refuse('routes must be a list');
  const routes = given.map((route, at) =>
    parseRoute(route, `${source}: routes[${at}]`, (tier) => known(tier, `routes[${at}].tier`)),
  );
  const first = [...tiers.keys()][0] as string;
  const otherwise = known(value.default ?? first, 'default');
  return { tiers, classes, routes, otherwise, fallback };
}

function mapOf<T>(value: unknown, read: (value: unknown, name: string) => T): Map<string, T> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.map(([name, one]) => [name, read(one, name)]));
}

function parseModelTier(tier: unknown, where: string, env: NodeJS.ProcessEnv): ModelTier {
  if (!isObject(tier)) throw new ProgramConfigError(`${where} must be an object`);
  if (Array.isArray(tier.rules)) return { kind: 'rule', rules: parseRuleSet(tier, where) };
  if (typeof tier.model !== 'string') {
    throw new ProgramConfigError(`${where} must have a model (an endpoint) or rules`);
  }
  // The key itself never stands in a config: it names the variable that holds it.
  const apiKeyEnv = textAt(tier, 'apiKeyEnv') ?? 'OPENAI_API_KEY';
  const flags = {
    ...pick(tier, ['model', 'baseUrl', 'systemPrompt'], 'string'),
    ...pick(tier, ['idleMs', 'totalMs'], 'number'),
    ...(typeof tier.maxTokens === 'number' && { maxTokens: String(tier.maxTokens) }),
    ...(typeof tier.temperature === 'number' && { temperature: String(tier.temperature) }),
  };
  return { kind: 'chat', chat: readChatOptions(env, flags, apiKeyEnv) };
}

function pick(from: JsonObject, names: readonly string[], type: 'string' | 'number'): JsonObject {
  return Object.fromEntries(
    names.filter((name) => typeof from[name] === type).map((name) => [name, from[name]]),
  );
}

function parseRoute(route: unknown, where: string, known: (tier: unknown) => string): Route {
  if (!isObject(route)) throw new ProgramConfigError(`${where} must be an object`);
  const tier = known(route.tier);
  const { longerThan, keyword, pattern } = route;
  if (typeof longerThan === 'number') {
    const why = `the prompt is longer than ${longerThan} characters`;
    return { tier, why, matches: (prompt) => prompt.length > longerThan };
  }
  if (typeof keyword === 'string') {
    const word = keyword.toLowerCase();
    const why = `the prompt says ${JSON.stringify(keyword)}`;
    return { tier, why, matches: (prompt) => prompt.toLowerCase().includes(word) };
  }
  if (typeof pattern === 'string') {
    const expression = parsePattern(pattern, 'i', where);
    const why = `the prompt matches ${JSON.stringify(pattern)}`;
    return { tier, why, matches: (prompt) => expression.test(prompt) };
  }
  throw new ProgramConfigError(`${where} must have longerThan, keyword or pattern`);
}
