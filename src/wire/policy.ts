/**
 * What the enforcer goes by: the variables of SOX with its defaults, and our limit on blocks.
 *
 * It is pure: the text of `policy.toml` and the environment come in, a whole Policy or every
 * problem comes out. The environment wins over the file; SYNOD_ names win over SOX_ names. A
 * problem names the field and where it was said; an unknown name is refused, never ignored [CD9].
 */
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';

export interface Policy {
  readonly reminder_threshold_tool_calls: number;
  readonly reminder_threshold_turns: number;
  readonly force_drain_on_stop: boolean;
  readonly send_followed_by_idle_turns: number;
  readonly suspect_send_and_wait: boolean;
  /** How often in a row a stop is blocked before it is let through. Ours. */
  readonly stop_blocks_max: number;
  readonly reminder_text_drain: string;
  readonly reminder_text_drain_on_stop: string;
  readonly reminder_text_send_and_wait: string;
}

export interface PolicyProblem {
  readonly code: 'policy.not-toml' | 'policy.invalid';
  /** As it was said: `reminder_threshold_turns`, or `SOX_REMINDER_THRESHOLD`. */
  readonly field: string;
  readonly source: 'file' | 'env';
  readonly message: string;
}

export const STOP_BLOCKS_MAX = 3;
/** Claude Code gives up by itself after eight, with an empty answer; we must be first. */
const STOP_BLOCKS_LIMIT = 7;
const COUNT_LIMIT = 1_000;
const TEXT_CHARS_MAX = 1_500;
const RECV_TOKEN = '{{recv_tool}}';
/** Tables of the same file that are not the enforcer's; `hook-settings.ts` reads them. */
const OTHER_TABLES: readonly string[] = ['guard', 'wake'];

/** Said as facts: harnesses take an order in injected text for an attack, and rightly. */
export const DEFAULT_POLICY: Policy = {
  reminder_threshold_tool_calls: 5,
  reminder_threshold_turns: 3,
  force_drain_on_stop: true,
  send_followed_by_idle_turns: 3,
  suspect_send_and_wait: true,
  stop_blocks_max: STOP_BLOCKS_MAX,
  reminder_text_drain:
    'Synod: this agent has worked for a while without reading its inbox. An answer or a change of ' +
    'plan may be waiting there; {{recv_tool}} takes what there is and returns at once.',
  reminder_text_drain_on_stop:
    'Synod: this agent is not finished yet: mail waits unread, or an answer to what it sent has not ' +
    'been looked for. {{recv_tool}} takes what there is; after that the turn can end.',
  reminder_text_send_and_wait:
    'Synod: this is one more message after several turns without reading. Waiting for an answer ' +
    'stalls both sides; work goes on under a stated assumption, and {{recv_tool}} shows whether an ' +
    'answer has come.',
};

type Field = keyof Policy;

/** The later name wins. */
const VARIABLES: readonly (readonly [name: string, field: Field])[] = [
  ['SOX_REMINDER_THRESHOLD', 'reminder_threshold_tool_calls'],
  ['SOX_FORCE_DRAIN_ON_STOP', 'force_drain_on_stop'],
  ['SYNOD_REMINDER_THRESHOLD', 'reminder_threshold_tool_calls'],
  ['SYNOD_FORCE_DRAIN_ON_STOP', 'force_drain_on_stop'],
  ['SYNOD_REMINDER_THRESHOLD_TURNS', 'reminder_threshold_turns'],
  ['SYNOD_SEND_FOLLOWED_BY_IDLE_TURNS', 'send_followed_by_idle_turns'],
  ['SYNOD_SUSPECT_SEND_AND_WAIT', 'suspect_send_and_wait'],
  ['SYNOD_STOP_BLOCKS_MAX', 'stop_blocks_max'],
];

export function whole(min: number, max: number): z.ZodInt {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

function text(mustName: boolean): z.ZodString {
  const error = `must be text of 1 to ${TEXT_CHARS_MAX} characters`;
  const words = z
    .string({ error })
    .min(1, { error })
    .max(TEXT_CHARS_MAX, { error })
    .refine((value) => value.trim() !== '', { error })
    .refine((value) => !value.replaceAll(RECV_TOKEN, '').includes('{{'), {
      error: `knows no token but ${RECV_TOKEN}`,
    });
  if (!mustName) return words;
  return words.refine((value) => value.includes(RECV_TOKEN), {
    error: `must contain ${RECV_TOKEN}, so that the agent learns what to call`,
  });
}

const yesNo = z.boolean({ error: 'must be true or false' });
const fields: Readonly<Record<Field, z.ZodType>> = {
  reminder_threshold_tool_calls: whole(1, COUNT_LIMIT),
  reminder_threshold_turns: whole(1, COUNT_LIMIT),
  force_drain_on_stop: yesNo,
  send_followed_by_idle_turns: whole(1, COUNT_LIMIT),
  suspect_send_and_wait: yesNo,
  stop_blocks_max: whole(1, STOP_BLOCKS_LIMIT),
  reminder_text_drain: text(true),
  reminder_text_drain_on_stop: text(true),
  reminder_text_send_and_wait: text(false),
};

export interface PolicySources {
  /** The text of `policy.toml`; null when there is none. */
  readonly toml: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function parsePolicy(sources: PolicySources): Policy | readonly PolicyProblem[] {
  const file = readToml(sources.toml ?? '');
  if ('problem' in file) return [file.problem];
  const problems: PolicyProblem[] = [];
  const said: Record<string, unknown> = {};
  const take = (source: 'file' | 'env', name: string, field: string, value: unknown): void => {
    const message = objectionTo(field, value);
    if (message === null) said[field] = value;
    else problems.push({ code: 'policy.invalid', field: name, source, message });
  };
  for (const [name, value] of Object.entries(file.table)) {
    if (!OTHER_TABLES.includes(name)) take('file', name, name, value);
  }
  for (const [name, field] of VARIABLES) {
    const value = sources.env[name];
    if (value !== undefined && value !== '') {
      take('env', name, field, asValue(value, typeof DEFAULT_POLICY[field]));
    }
  }
  return problems.length > 0 ? problems : ({ ...DEFAULT_POLICY, ...said } as Policy);
}

/** The same policy with the name of the tool in its texts, as they may be shown. */
export function spokenPolicy(policy: Policy, recvTool: string): Policy {
  const spoken = (words: string): string => words.replaceAll(RECV_TOKEN, () => recvTool);
  return {
    ...policy,
    reminder_text_drain: spoken(policy.reminder_text_drain),
    reminder_text_drain_on_stop: spoken(policy.reminder_text_drain_on_stop),
    reminder_text_send_and_wait: spoken(policy.reminder_text_send_and_wait),
  };
}

export function isPolicy(parsed: Policy | readonly PolicyProblem[]): parsed is Policy {
  return !Array.isArray(parsed);
}

function readToml(
  toml: string,
): { readonly table: Record<string, unknown> } | { readonly problem: PolicyProblem } {
  try {
    return { table: parse(toml) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ''] = error.message.split('\n');
    return {
      problem: {
        code: 'policy.not-toml',
        field: `line ${error.line}, column ${error.column}`,
        source: 'file',
        message: `${what.trim()}; mend it, or remove the file to go by the defaults`,
      },
    };
  }
}

function objectionTo(field: string, value: unknown): string | null {
  if (!Object.hasOwn(fields, field)) {
    return `is not a setting; known are ${Object.keys(fields).join(', ')}`;
  }
  const judged = fields[field as Field].safeParse(value);
  if (judged.success) return null;
  const [issue] = judged.error.issues;
  return `${issue?.message} (found ${JSON.stringify(value)?.slice(0, 80)})`;
}

/** A variable is text: what can be a number or an answer becomes one, the rules judge the rest. */
function asValue(said: string, kind: string): unknown {
  const word = said.trim().toLowerCase();
  if (kind === 'number') return /^[+-]?\d+(\.\d+)?$/.test(word) ? Number(word) : said;
  if (['true', '1', 'yes', 'on'].includes(word)) return true;
  return ['false', '0', 'no', 'off'].includes(word) ? false : said;
}
