/**
 * One turn, from taken to finished: a directory, an environment and a token are made for it, a runner
 * runs it, its answers are sent as the agent, and the law is told how it ended. Whatever happens, the
 * turn is finished once, and what was made for it is removed [RU16].
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import { readJson } from '../../core/law/json.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { TakenTurn } from '../../core/turns/turn-events.ts';
import { createDecisionQueue, type DecisionQueue } from '../../guard/decision-queue.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import { givenMessages, turnTokenText } from '../desk/take-turn.ts';
import type { RunnerChooser } from './choose-runner.ts';
import { finishTurn } from './finish-turn.ts';
import { type GivenMessage, type TurnJob, type TurnResult, TurnStopped } from './runner.ts';
import type { OpenTranscript } from './transcript.ts';
import type { Transcripts } from './transcripts.ts';
import type { TurnAgent } from './turn-agent.ts';
import { turnEnvironment } from './turn-environment.ts';
import { ownPlace, type Places, placeOf } from './turn-place.ts';
import { createRenewal, type Renewal } from './turn-renewal.ts';
import { failedResult } from './turn-result.ts';
import { inTurnSpan, type TurnSpan } from './turn-span.ts';

export interface RunTurnOptions {
  readonly url: string;
  readonly chooser: RunnerChooser;
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly transcripts: Transcripts;
  /** Null: nobody is told. */
  readonly telemetry?: Telemetry | null;
  /** Acts as the agent, with the token of the turn. */
  openAgent(token: string, turnId: string): TurnAgent;
  warn(line: string): void;
}

/** A turn that was taken, and how it is stopped. */
export interface HeldTurn {
  readonly hub: Hub;
  readonly taken: TakenTurn;
  /** Of its token. */
  readonly secret: string;
  /** Aborted with a TurnStopped. */
  readonly stop: AbortController;
}

export async function runTurn(held: HeldTurn, options: RunTurnOptions): Promise<void> {
  return inTurnSpan(options.telemetry ?? null, held.hub.space, held.taken, (span) =>
    carryOut(held, options, span),
  );
}

async function carryOut(held: HeldTurn, options: RunTurnOptions, span: TurnSpan): Promise<void> {
  const { hub, taken, secret, stop } = held;
  const { id, epoch, agent, attempt } = taken.turn;
  const renewal = createRenewal(hub, id, epoch, (why) => {
    stop.abort(new TurnStopped('timed_out', why));
  });
  const of = { space: hub.space, turn_id: id, agent_id: agent, attempt };
  const transcript = options.transcripts.open(of, renewal.sign);
  try {
    transcript.hide(secret);
    renewal.begin(transcript.path);
    const token = turnTokenText(hub.space, id, secret);
    const acting = options.openAgent(token, id);
    const messages = await givenMessages(hub, agent, taken.turn.messages);
    const result = await attemptTurn(
      held,
      { token, messages, transcript, acting, renewal },
      options,
    );
    const why = stop.signal.reason instanceof TurnStopped ? stop.signal.reason.why : null;
    span.ended(result, why);
    // The law has ended it already: there is nothing to be said of this run of it.
    if (why === 'cancelled' || why === 'lease_lost') return;
    const notes =
      result.outcome === 'failed' ? [] : await acting.conclude(result, messages, transcript);
    renewal.end();
    await finishTurn(hub, taken.turn, result, {
      ...{ notes, isRestart: why === 'hub_closing' && result.outcome === 'failed' },
      clean: transcript.clean,
      warn: options.warn,
    });
  } finally {
    renewal.end();
    transcript.close();
  }
}

interface Made {
  readonly token: string;
  readonly messages: readonly GivenMessage[];
  readonly transcript: OpenTranscript;
  readonly acting: TurnAgent;
  readonly renewal: Renewal;
}

async function attemptTurn(
  { hub, taken, stop }: HeldTurn,
  { token, messages, transcript, acting, renewal }: Made,
  { url, chooser, places, env, warn }: RunTurnOptions,
): Promise<TurnResult> {
  const { turn, config, sessionRef } = taken;
  const chosen = chooser.resolve(readJson(config.runner) as RunnerSpec);
  if (isRefusal(chosen)) return failedResult(chosen.message);
  const { spec, runner } = chosen;
  const decisions = openDecisions(hub);
  const scratch = await mkdtemp(join(tmpdir(), 'synod-turn-'));
  const timer = spec.timeout_ms === undefined ? undefined : timeOut(stop, spec.timeout_ms);
  try {
    const cwd = await workPlace(spec.cwd, hub.space, turn.agent, places);
    if (isRefusal(cwd)) return failedResult(cwd.message);
    const facts = {
      ...{ turn_id: turn.id, epoch: turn.epoch, agent_id: turn.agent, space: hub.space },
      ...{ attempt: turn.attempt, after_restart: turn.isAfterRestart },
      traceparent: turn.trace ?? null,
      reason: { rule: 'wake', message_ids: messages.map(({ message_id }) => message_id) },
    };
    const reach = { url, token };
    const job: TurnJob = {
      ...{ spec, turn: facts, messages, hub: reach, sessionRef, cwd, scratch, transcript },
      env: turnEnvironment(env, spec, reach, facts),
      signal: stop.signal,
      started: renewal.started,
      spent: renewal.spent,
      askGate: (ask) => acting.askGate(ask, stop.signal),
      raise: (question) => acting.raise(question),
      decided: decisions.record,
    };
    return await runner.run(job);
  } catch (cause) {
    warn(`turn ${turn.id} of ${turn.agent} could not be run: ${String(cause)}`);
    return failedResult('the hub could not run it; its log says why');
  } finally {
    clearTimeout(timer);
    await decisions.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** One entry of the log a second at most, whatever the program of the turn asks for. */
function openDecisions(hub: Hub): DecisionQueue {
  return createDecisionQueue({
    ...{ gatherMs: 1_000, gatheredMax: 100 },
    async tell(told, missed) {
      const decisions = told.map((one) => ({ ...one, as: one.as ?? null }));
      const command = { type: 'guard.record', by: SERVER, at: hub.stamp() } as const;
      const answer = await hub.submit({ ...command, decisions, missed });
      if (isRefusal(answer)) throw new Error(answer.message);
    },
  });
}

async function workPlace(
  cwd: string | undefined,
  space: string,
  agent: string,
  places: Places,
): Promise<string | Refusal> {
  return cwd === undefined ? ownPlace(places.dir, space, agent) : placeOf(cwd, places);
}

function timeOut(stop: AbortController, ms: number): NodeJS.Timeout {
  return setTimeout(() => {
    stop.abort(new TurnStopped('timed_out', `it took longer than ${ms} ms`));
  }, ms);
}
