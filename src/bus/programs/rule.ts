/**
 * Answers from a list of rules, without any network: the first rule whose pattern is found in the
 * prompt gives the answer. What no rule matches is refused, unless there is an `otherwise`.
 */

import { isObject, textAt } from '../process/json-object.ts';
import type { AnswerTurn, Brain, Outcome } from './acp-agent.ts';
import { serveAcp } from './acp-front.ts';
import { CODE, messageOfError, ProgramConfigError, ProgramError } from './program-error.ts';
import type { LineIo } from './stdio-lines.ts';

export interface Rule {
  readonly pattern: RegExp;
  /** May take groups of the pattern over: `$1`, `$<name>`. */
  readonly answer: string;
}

export interface RuleSet {
  readonly rules: readonly Rule[];
  readonly otherwise: string | null;
}

const RULES_MAX = 10_000;
/** A pattern is shown no more of a prompt than this. */
const PROMPT_CHARS_MAX = 64 * 1024;

/** `{"rules": [{"pattern": "^hi", "flags": "i", "answer": "hello"}], "otherwise": "…"}` */
export function parseRuleSet(value: unknown, source: string): RuleSet {
  if (!isObject(value) || !Array.isArray(value.rules)) {
    throw new ProgramConfigError(`${source}: rules must be a list of {"pattern", "answer"}`);
  }
  if (value.rules.length > RULES_MAX) {
    throw new ProgramConfigError(
      `${source}: rules has ${value.rules.length} entries; at most ${RULES_MAX}`,
    );
  }
  const { otherwise = null } = value;
  if (otherwise !== null && typeof otherwise !== 'string') {
    throw new ProgramConfigError(`${source}: otherwise must be a string`);
  }
  const rules = value.rules.map((rule, at) => parseRule(rule, `${source}: rules[${at}]`));
  return { rules, otherwise };
}

function parseRule(rule: unknown, where: string): Rule {
  const pattern = textAt(rule, 'pattern');
  const answer = textAt(rule, 'answer');
  if (pattern === undefined || answer === undefined) {
    throw new ProgramConfigError(`${where}: pattern and answer must be strings`);
  }
  return { pattern: parsePattern(pattern, textAt(rule, 'flags') ?? '', where), answer };
}

export function parsePattern(pattern: string, flags: string, where: string): RegExp {
  try {
    // With g or y a pattern would remember where it last matched.
    return new RegExp(pattern, flags.replace(/[gy]/g, ''));
  } catch (cause) {
    throw new ProgramConfigError(`${where}: ${messageOfError(cause)}`, { cause });
  }
}

/** As on the command line: `pattern => answer`. */
export function parseRuleFlag(text: string): Rule {
  const at = text.indexOf('=>');
  if (at < 0) throw new ProgramConfigError(`--rule ${text}: write it as "pattern => answer"`);
  const pattern = text.slice(0, at).trim();
  return {
    pattern: parsePattern(pattern, '', `--rule ${text}`),
    answer: text.slice(at + 2).trim(),
  };
}

export function answerByRule({ rules, otherwise }: RuleSet, prompt: string): string | null {
  const text = prompt.slice(0, PROMPT_CHARS_MAX);
  for (const { pattern, answer } of rules) {
    const found = pattern.exec(text);
    if (found === null) continue;
    // Replaced in place, so that anchors and look-arounds see what they saw; then cut out again.
    const after = text.length - found.index - found[0].length;
    const replaced = text.replace(pattern, answer);
    return replaced.slice(found.index, replaced.length - after);
  }
  return otherwise;
}

export async function answerTurnByRule(set: RuleSet, turn: AnswerTurn): Promise<Outcome> {
  const answer = answerByRule(set, turn.text);
  if (answer === null) {
    throw new ProgramError(
      CODE.notSupported,
      'no rule matches the prompt; add one, or an "otherwise"',
      { retryable: false },
    );
  }
  await turn.say(answer);
  return { stopReason: 'end_turn' };
}

export function runRule(
  options: { readonly rules: RuleSet; readonly version: string },
  io: LineIo,
): Promise<void> {
  const brain: Brain = {
    name: 'synod-rule',
    title: 'Synod rules',
    takesImages: false,
    answer: (turn) => answerTurnByRule(options.rules, turn),
  };
  return serveAcp({ brain, version: options.version }, io);
}
