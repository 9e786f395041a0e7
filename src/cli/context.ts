/**
 * What a command is given: its arguments and flags, the hub, and where to print.
 *
 * With `--json` a command prints one JSON document (a stream: one per line) and nothing else
 * on stdout; without it, text for a person. Errors go to stderr in either form.
 */
import type { Command } from 'commander';
import { callHub, type SpokenInput } from '../client/node/call.ts';
import { type Globals, resolveTarget, type Target } from '../client/node/target.ts';
import type { CallId, CallOutput } from '../client/operations.ts';
import type { Arguments } from './plain-arguments.ts';
import {
  type Colours,
  columns,
  createColours,
  jsonText,
  neutralise,
  wantsColours,
} from './terminal.ts';

/** Calls an operation of the hub; its refusal is thrown. */
export type Call = <Id extends CallId>(id: Id, input: SpokenInput<Id>) => Promise<CallOutput<Id>>;

export interface Context<Flags> {
  readonly args: readonly string[];
  readonly flags: Flags & Globals;
  readonly isJson: boolean;
  readonly colours: Colours;
  /** Where the hub is; throws when none is known. */
  target(): Target;
  readonly call: Call;
  /** Text lines, or the document: whichever was asked for. */
  show(document: unknown, lines: () => readonly string[]): void;
  /** The same with one line, which is neutralised. */
  say(document: unknown, line: string): void;
  /** The same with a row for each thing; remarks `none` when there are none, and when there are more. */
  table(
    document: object,
    rows: readonly (readonly string[])[],
    none?: string,
    below?: readonly string[],
  ): void;
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
  // The command itself comes last; what stands before it is told by it too.
  command.action(async (...given: unknown[]) => {
    await handler(createContext<Flags>(given.at(-1) as Arguments));
  });
}

function createContext<Flags extends object>(command: Arguments): Context<Flags> {
  const flags = command.optsWithGlobals() as Flags & Globals;
  const isJson = flags.json === true;
  const target = () => resolveTarget(flags);
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const show: Context<Flags>['show'] = (document, lines) => {
    if (isJson) print(jsonText(document));
    else for (const line of lines()) print(line);
  };
  const remark = (line: string): void => {
    if (!isJson) process.stderr.write(`${line}\n`);
  };
  return {
    args: command.args,
    flags,
    isJson,
    colours: createColours(wantsColours(process.stdout, process.env)),
    target,
    call: (id, input) => callHub(target(), id, input),
    print,
    show,
    say: (document, line) => show(document, () => [neutralise(line)]),
    table(document, rows, none, below = []) {
      show(document, () => [...columns(rows), ...below]);
      if (rows.length === 0 && none !== undefined) remark(none);
      const { next } = document as { next?: unknown };
      if (typeof next === 'string' || typeof next === 'number') {
        remark(`there is more: --after ${neutralise(String(next))}`);
      }
    },
    remark,
  };
}

/** For flags that may be repeated. */
export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
