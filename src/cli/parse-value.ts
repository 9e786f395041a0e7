/**
 * Values as a person types them, and the flags that many commands share. What cannot be read is a
 * usage error that says how to write it.
 */
import type { Command } from 'commander';
import { readJson } from '../core/law/json.ts';
import { isFields } from '../wire/fields.ts';
import { fail } from './failure.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `30`, `1.5` (seconds), `500ms`, `5m`, `2h`, `7d`, in milliseconds. */
export function parseDurationMs(text: string, flag: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim()) ?? [];
  if (number === undefined) {
    throw fail(
      'cli.usage',
      `${flag} must be seconds, or a number with ms, s, m, h or d; found ${text}`,
    );
  }
  return Math.round(Number(number) * (UNIT_MS[unit] ?? 1));
}

export function parseWhole(text: string, flag: string): number {
  if (!/^-?\d{1,15}$/.test(text))
    throw fail('cli.usage', `${flag} must be a whole number; found ${text}`);
  return Number(text);
}

/** An option with a number, as commander wants it. */
export function whole(flags: string, text: string): readonly [string, string, Parse] {
  return [flags, text, (value) => parseWhole(value, nameOf(flags))];
}

/** An option with a time, in milliseconds. */
export function duration(flags: string, text: string): readonly [string, string, Parse] {
  return [flags, text, (value) => parseDurationMs(value, nameOf(flags))];
}

/** The same in seconds, as the hub counts leases. */
export function seconds(flags: string, text: string): readonly [string, string, Parse] {
  return [flags, text, (value) => parseDurationMs(value, nameOf(flags)) / 1000];
}

/** An option that is one of a few words. */
export function oneOf(
  flags: string,
  text: string,
  words: readonly string[],
): readonly [string, string, Parse<string>] {
  const parse = (value: string): string => {
    if (words.includes(value)) return value;
    throw fail('cli.usage', `${nameOf(flags)} must be one of ${words.join(', ')}; found ${value}`);
  };
  return [flags, text, parse];
}

type Parse<T = number> = (value: string) => T;

function nameOf(flags: string): string {
  return flags.split(' ')[0] ?? flags;
}

export interface PageFlags {
  readonly limit?: number;
  readonly after?: string;
}

/** Lists that the hub hands out a page at a time. */
export function addPageFlags(command: Command): Command {
  return command
    .option(...whole('--limit <n>', 'at most so many rows'))
    .option('--after <row>', 'go on behind this one, as the page before said');
}

/** Where a stream of messages starts. */
export function parseStart(from: string): string {
  if (/^(now|inbox|\d{1,15})$/.test(from)) return from;
  throw fail('cli.usage', `--from must be now, inbox or a position; found ${from}`);
}

/** A JSON object typed on the command line or piped in. */
export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = readJson(text);
  } catch (cause) {
    throw fail('cli.usage', `${what} is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (isFields(value)) return { ...value };
  throw fail('cli.usage', `${what} must be a JSON object, such as {"text":"hello"}`);
}
