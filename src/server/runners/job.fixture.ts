/** A turn to be run in a test: two messages, a scratch directory, and what the turn said. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import type { GivenMessage, TurnJob } from './runner.ts';

export interface TestJob<S extends RunnerSpec> {
  readonly job: TurnJob<S>;
  /** The transcript, line by line. */
  readonly said: readonly string[];
  /** What the runner asked people. */
  readonly asked: readonly unknown[];
}

export function createJob<S extends RunnerSpec>(
  cwd: string,
  spec: S,
  changes: Partial<TurnJob<S>> = {},
): TestJob<S> {
  const said: string[] = [];
  const asked: unknown[] = [];
  const scratch = join(cwd, 'scratch');
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const messages = [given('m-1', 'hello'), given('m-2', 'what is the time?')];
  const job: TurnJob<S> = {
    spec,
    turn: {
      ...{ turn_id: 't-1', epoch: 1, agent_id: 'ada', space: 'default', attempt: 1 },
      reason: { rule: 'direct', message_ids: messages.map(({ message_id }) => message_id) },
      after_restart: false,
    },
    messages,
    hub: { url: 'http://127.0.0.1:1', token: 'syt_secret' },
    ...{ sessionRef: null, cwd, scratch },
    env: {
      PATH: process.env.PATH ?? '',
      ...{ SYNOD_URL: 'http://127.0.0.1:1', SYNOD_TOKEN: 'syt_secret' },
      ...{ SYNOD_AGENT: 'ada', SYNOD_TURN: 't-1' },
    },
    transcript: { append: (text) => void said.push(text), hide() {} },
    signal: new AbortController().signal,
    started() {},
    spent() {},
    async askGate(ask) {
      asked.push(ask);
      return { state: 'denied', by: 'eve', reason: 'not in a test' };
    },
    async raise(question) {
      asked.push(question);
    },
    ...changes,
  };
  return { job, said, asked };
}

function given(id: string, text: string): GivenMessage {
  return {
    ...{ message_id: id, channel: 'team/plan', sender: 'bob', kind: 'agent', trust: 'standard' },
    ...{ body: { text }, sent_at: 1_700_000_000, reply_to: null },
  };
}
