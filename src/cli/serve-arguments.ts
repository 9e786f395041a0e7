/** The flags of `serve` as somebody else gives them: `up`, for the process that it starts. */
import { Command } from 'commander';
import { addServeFlags } from './serve-flags.ts';

/** The flags again as arguments, for the process that `up` starts: what is on `up` is on `serve`. */
export function serveArguments(options: object): string[] {
  const values = new Map(Object.entries(options));
  return addServeFlags(new Command()).options.flatMap((option) => {
    const value: unknown = values.get(option.attributeName());
    if (Array.isArray(value)) return value.map((one) => `${option.long}=${one}`);
    // A flag that has a `--no-` twin says what it means itself.
    if (typeof value === 'string' && option.negate) return [];
    if (typeof value === 'boolean') return value === option.negate ? [] : [`${option.long}`];
    return value === undefined ? [] : [`${option.long}=${value}`];
  });
}
