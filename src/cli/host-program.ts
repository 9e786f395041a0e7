/**
 * Hosts a program as an instance of an agent while this command runs: what it prints is printed, each step of
 * it is told, and Ctrl-C ends it before us. The hub is asked over HTTP as every command asks it.
 */
import type { HubCalls } from '../flow/process/supervisor-options.ts';
import type { Context } from './context.ts';
import { neutralise } from './terminal.ts';

export interface Hosted {
  readonly agent: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly passEnv?: readonly string[];
  readonly ready?: string;
  readonly restart?: 'always' | 'on-failure' | 'never';
}

export interface Hosting {
  /** Resolves when it is ready; rejects when it was given up. */
  readonly ready: Promise<unknown>;
  /** Resolves when nothing of it will run any more; true when it ended well. */
  readonly over: Promise<boolean>;
  stop(): Promise<void>;
}

type Told = Pick<Context<object>, 'call' | 'print' | 'remark' | 'isJson'>;

export async function hostProgram({ call, print, isJson }: Told, hosted: Hosted): Promise<Hosting> {
  const { Supervisor } = await import('../flow/process/supervisor.ts');
  const { agent, command, cwd, env, passEnv, ready, restart } = hosted;
  const { promise: over, resolve } = Promise.withResolvers<boolean>();
  const say = (document: object, line: string): void =>
    print(
      isJson ? JSON.stringify({ agent_id: agent, ...document }) : neutralise(`${agent}: ${line}`),
    );
  const supervisor = new Supervisor({
    ...{ agent, command, cwd },
    hub: { call: ((id: never, input: never) => call(id, input ?? {})) as HubCalls['call'] },
    ...(env !== undefined && { env }),
    ...(passEnv !== undefined && { inheritEnv: passEnv }),
    ...(ready !== undefined && { ready: new RegExp(ready, 'u') }),
    ...(restart !== undefined && { restart }),
    onLine: (line, from) => say({ line, from }, line),
    onChange({ state, reason, pid, instanceId, lines }) {
      const why = reason === null ? '' : `: ${reason}`;
      const which =
        instanceId === null ? '' : ` (${instanceId}${pid === null ? '' : `, process ${pid}`})`;
      say({ state, reason, pid, instance_id: instanceId }, `${state}${which}${why}`);
      if (state === 'given_up') for (const line of lines) say({ last_line: line }, `  ${line}`);
      if (state === 'stopped' || state === 'given_up') resolve(state === 'stopped');
    },
  });
  return { ready: supervisor.start(), over, stop: () => supervisor.stop() };
}

/** Waits until all are over; Ctrl-C stops them first. Answers whether all ended well. */
export async function hostAll(hostings: readonly Hosting[]): Promise<boolean> {
  const stop = (): void => {
    for (const hosting of hostings) void hosting.stop();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const ends = await Promise.all(hostings.map(({ over }) => over));
    return ends.every(Boolean);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
