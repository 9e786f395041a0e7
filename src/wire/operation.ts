/**
 * One thing a caller can ask, declared once and offered at every door. MCP tools,
 * HTTP routes, JSON-RPC methods, OpenAPI, the CLI and the reference are derived
 * from these declarations; nothing about an operation is written twice.
 */
import type { z } from 'zod';
import { shape } from './shape.ts';

/** Who may ask. `reader` excludes nobody who is authenticated; `admin` is of one space, `owner` of the hub. */
export type Access = 'reader' | 'writer' | 'person' | 'admin' | 'owner';

/** Which tools an MCP client sees unless it asks for others. */
export type Toolset = 'core' | 'groups' | 'work' | 'more' | 'admin';

export interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** Always false: an operation touches this hub and nothing beyond. */
  readonly openWorldHint: boolean;
}

export interface Operation<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
> {
  /** `channels.send`: the JSON-RPC method; with `__` for `.` the MCP tool. */
  readonly id: string;
  /** `send`: the SOX name, and the last segment of the HTTP route. */
  readonly name: string;
  readonly title: string;
  /** One line; what an agent needs to call it right. */
  readonly doc: string;
  readonly access: Access;
  readonly toolset: Toolset;
  readonly hints: Hints;
  readonly input: Input;
  readonly output: Output;
  /** Other MCP tool names it answers to. */
  readonly aliases: readonly string[];
  /** Only where a connection stays open: not offered over plain HTTP or MCP. */
  readonly isStreaming: boolean;
  /** About the spaces themselves: answered wherever the caller is, also where there is no space. */
  readonly isAboutSpaces: boolean;
}

export type InputOf<O extends Operation> = z.input<O['input']>;
export type ParsedInputOf<O extends Operation> = z.output<O['input']>;
export type OutputOf<O extends Operation> = z.output<O['output']>;

export const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const ADDS: Hints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
export const SETS: Hints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const REMOVES: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

/** As written down: of its shapes how to make them, because a process meets few of some hundred. */
type Declared<I extends z.ZodType, O extends z.ZodType> = Omit<
  Operation<I, O>,
  'input' | 'output' | 'aliases' | 'isStreaming' | 'isAboutSpaces'
> &
  Partial<Pick<Operation<I, O>, 'aliases' | 'isStreaming' | 'isAboutSpaces'>> & {
    readonly input: () => I;
    readonly output: () => O;
  };

export function operation<I extends z.ZodType, O extends z.ZodType>({
  input: makeInput,
  output: makeOutput,
  ...rest
}: Declared<I, O>): Operation<I, O> {
  const input = shape(makeInput);
  const output = shape(makeOutput);
  return {
    ...{ aliases: [], isStreaming: false, isAboutSpaces: false },
    ...rest,
    get input() {
      return input();
    },
    get output() {
      return output();
    },
  };
}

/** Whether it may be the first thing in a space: what only reads or takes away needs one that is there [SP3]. */
export function isMaking({ hints }: Pick<Operation, 'hints'>): boolean {
  return !hints.readOnlyHint && !hints.destructiveHint;
}

export function toolName(operation: Pick<Operation, 'id'>): string {
  return operation.id.replace('.', '__');
}
