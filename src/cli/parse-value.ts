/** Numbers as a person types them. What cannot be read is a usage error that says how to write it. */
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

/** A JSON object typed on the command line or piped in. */
export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw fail('cli.usage', `${what} is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw fail('cli.usage', `${what} must be a JSON object, such as {"text":"hello"}`);
}
