/**
 * What a command is given: its arguments and flags, the hub, and where to print.
 *
 * With `--json` a command prints one JSON document (a stream: one per line) and nothing else
 * on stdout; without it, text for a person. Errors go to stderr in either form.
 */
import type { Command } from 'commander';
import { callHub } from './hub-call.ts';
import { type Globals, resolveTarget, type Target } from './target.ts';
import { type Colours, createColours, jsonText, wantsColours } from './terminal.ts';

export interface Context<Flags> {
  readonly args: readonly string[];
  readonly flags: Flags & Globals;
  readonly isJson: boolean;
  readonly colours: Colours;
  /** Where the hub is; throws when none is known. */
  target(): Target;
  call(operation: string, input: object, waitMs?: number): Promise<Record<string, unknown>>;
  /** Text lines, or the document: whichever was asked for. */
  show(document: unknown, lines: () => readonly string[]): void;
  print(line: string): void;
  /** A remark for a person; silent with --json. */
  remark(line: string): void;
}

export type Handler<Flags> = (context: Context<Flags>) => Promise<void> | void;

/** Ties a commander command to its handler. */
export function handle<Flags extends object = object>(
  command: Command,
  handler: Handler<Flags>,
): void {
  command.action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command;
    await handler(createContext<Flags>(self));
  });
}

function createContext<Flags extends object>(command: Command): Context<Flags> {
  const flags = command.optsWithGlobals() as Flags & Globals;
  const isJson = flags.json === true;
  const target = () => resolveTarget(flags);
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  return {
    args: command.args,
    flags,
    isJson,
    colours: createColours(wantsColours(process.stdout, process.env)),
    target,
    call: (operation, input, waitMs) => callHub(target(), operation, { ...input }, waitMs),
    print,
    show(document, lines) {
      if (isJson) print(jsonText(document));
      else for (const line of lines()) print(line);
    },
    remark(line) {
      if (!isJson) process.stderr.write(`${line}\n`);
    },
  };
}

/** Leaves out what was not given, so that the hub's defaults stand. */
export function given<T extends Record<string, unknown>>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}

/** For flags that may be repeated. */
export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
