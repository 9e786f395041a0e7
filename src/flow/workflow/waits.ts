/**
 * Steps that wait for something outside: time, a person, a signal, another run, an agent's answer. What is
 * asked is asked under the step's own key, so that asking again after a crash asks nothing twice; then the run
 * needs no process until the answer is there [FW6].
 */
import { createHash } from 'node:crypto';
import { SynodError } from '../../client/error.ts';
import { RUN_ID_CHARS_MAX } from '../../core/workflows/workflow-limits.ts';
import { cutMessage, type RecordedError, recordError, StepTimeoutError } from './errors.ts';
import { passGuard } from './pass-guard.ts';
import { toJson } from './plain-json.ts';
import type { Cost, Resolved, RunView, WaitOn } from './seam.ts';
import type { Activity, Engine, Visit } from './visit.ts';

interface WaitSpec {
  readonly kind: string;
  readonly timeoutMs?: number;
  /** Asks for it, and says what to wait for. */
  ask(visit: Visit): Promise<WaitOn>;
  /** What the step gives, or why it failed. */
  answer(
    visit: Visit,
    resolved: Resolved,
  ): Promise<
    { readonly result: unknown; readonly cost?: Cost } | { readonly error: RecordedError }
  >;
  revive?(result: unknown): unknown;
  abandon?(visit: Visit): Promise<unknown>;
}

export function createWait(engine: Engine, spec: WaitSpec): Activity {
  const { kind, timeoutMs } = spec;
  return {
    kind,
    ...(spec.revive && { revive: spec.revive }),
    begin(visit) {
      if (visit.record?.waiting_on != null) return engine.wait(visit);
      engine.work(visit, async () => {
        let on: WaitOn;
        try {
          on = await spec.ask(visit);
        } catch (error) {
          return engine.fail(visit, recordError(error, true), error);
        }
        await engine.record({
          ...{ kind: 'waiting', ...visit.ref, step_kind: kind, on },
          ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
        });
        engine.wait(visit);
      });
    },
    onResolved(visit, resolved) {
      engine.work(visit, async () => {
        if (resolved.by === 'timeout') {
          const late = new StepTimeoutError(`nothing came within ${timeoutMs} ms`);
          spec.abandon?.(visit).catch(() => {});
          return engine.fail(visit, recordError(late, true), late);
        }
        try {
          const answer = await spec.answer(visit, resolved);
          if ('error' in answer) return await engine.fail(visit, answer.error, undefined);
          const { result, cost } = answer;
          const given = spec.revive?.(result);
          await engine.complete(visit, result, {
            ...(cost !== undefined && { cost }),
            ...(given !== undefined && { given }),
          });
        } catch (error) {
          await engine.fail(visit, recordError(error, true), error);
        }
      });
    },
    abandon(visit) {
      spec.abandon?.(visit).catch(() => {});
    },
  };
}

export function createSleep(engine: Engine, ms: number): Activity {
  return createWait(engine, {
    kind: 'sleep',
    ask: async () => ({ timer_ms: Math.max(0, Math.ceil(ms)) }),
    answer: async () => ({ result: null }),
  });
}

export function createSignalWait(
  engine: Engine,
  name: string,
  timeoutMs: number | undefined,
  revive?: (value: unknown) => unknown,
): Activity {
  return createWait(engine, {
    kind: 'signal',
    ...(timeoutMs !== undefined && { timeoutMs }),
    ask: async () => ({ signal: name }),
    answer: async (_, { signal }) => ({ result: signal?.value ?? null }),
    ...(revive && { revive }),
  });
}

/**
 * What a person said at a gate, or that nobody did.
 *
 * @example
 * ```ts
 * const isLeave = ({ state }: Verdict): boolean => state === 'approved';
 * ```
 */
export interface Verdict {
  readonly gateId: string;
  readonly state: 'approved' | 'denied' | 'expired' | 'withdrawn' | 'superseded' | 'lapsed';
  readonly by: string | null;
  readonly reason: string | null;
}

/**
 * What a gate asks, of whom, and until when.
 *
 * @example
 * ```ts
 * const ask: GateAsk = { subject: 'release 4', deadline: 'never', payload: { version: '4.0.0' } };
 * ```
 */
export interface GateAsk {
  readonly subject: string;
  /** What is asked for, in a word; the step's name when left out. */
  readonly action?: string;
  readonly tier?: 1 | 2;
  readonly by?: {
    readonly kinds?: ('human' | 'admin')[];
    readonly names?: string[];
    readonly count?: number;
  };
  /** Seconds until it expires, which is no approval; `never` waits for ever. */
  readonly deadline?: number | 'never';
  /** What would be done: an approval holds for this alone. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly policy?: string;
}

export function createGateWait(engine: Engine, step: string, asked: GateAsk): Activity {
  const { subject, action = step, payload, policy, ...rest } = asked;
  const bound = { ...(payload && { payload }), ...(policy !== undefined && { policy }) };
  return createWait(engine, {
    kind: 'gate',
    async ask(visit) {
      // Of this run alone: with one gate for two alike, one approval would let both go on.
      const thread = shortKey(engine.keyOf(visit));
      for (let key = engine.keyOf(visit); ; ) {
        const gate = await engine.hub.call<{ gate_id: string; state: string }>('gates.ask', {
          ...{ ...rest, action, subject, ...bound, thread, tell: false, keep: true },
          idempotency_key: shortKey(key),
        });
        // It went with an end of this run, which was retried since: it is asked anew.
        if (gate.state !== 'withdrawn') return { gate: gate.gate_id };
        key = `${key}:${gate.gate_id}`;
      }
    },
    async answer(_, { gate }) {
      if (gate === undefined) throw new Error('the gate is gone');
      const { id, by, reason } = gate;
      let { state } = gate;
      if (state === 'approved') state = await spendApproval(id);
      return { result: { gateId: id, state, by, reason } };
    },
  });

  /** An approval is used here and now; one that holds no more is none. */
  async function spendApproval(gate_id: string): Promise<string> {
    try {
      await engine.hub.call('gates.consume', { gate_id, ...bound });
    } catch (error) {
      const gate = await engine.hub.call<{ state: string }>('gates.get', { gate_id });
      if (gate.state === 'consumed') return 'approved';
      if (gate.state !== 'approved') return gate.state;
      // It stands, and does not hold for this any more; or the hub could not say.
      if (error instanceof SynodError && error.code.startsWith('gate.')) return 'lapsed';
      throw error;
    }
    return 'approved';
  }
}

export interface ChildStart {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string;
  readonly version?: string;
  readonly queue?: string;
  /** What the queue counts by. */
  readonly key?: string;
}

export function createChildWait(engine: Engine, child: ChildStart): Activity {
  const idOf = (visit: Visit): string => child.id ?? childId(engine.run.id, visit);
  return createWait(engine, {
    kind: 'child',
    async ask(visit) {
      const { id } = await engine.hub.call<RunView>('workflows.start', {
        ...child,
        id: idOf(visit),
        input: toJson(child.input, `the input of ${child.name}`),
        parent: { id: engine.run.id, ...visit.ref },
      });
      return { child: id };
    },
    async answer(_, resolved) {
      const ended = resolved.child;
      if (ended?.state === 'completed') return { result: ended.result ?? null };
      const why = ended?.error?.message ?? 'it did not end well';
      const message = cutMessage(`run ${ended?.id} is ${ended?.state ?? 'gone'}: ${why}`);
      return { error: { name: ended?.error?.name ?? 'RunFailedError', message, terminal: true } };
    },
    abandon: (visit) =>
      engine.hub.call('workflows.cancel', { id: idOf(visit), reason: 'its parent ended' }),
  });
}

/** The same child at every attempt, within what an id may be. */
function childId(parent: string, { step, key }: Visit): string {
  const id = [parent, step, ...(key === null ? [] : [shortKey(key)])].join('.');
  return id.length <= RUN_ID_CHARS_MAX ? id : `${parent.slice(0, 60)}.${shortKey(id)}`;
}

/**
 * What an agent said to a message.
 *
 * @example
 * ```ts
 * const line = ({ from, body }: Reply): string => `${from}: ${body.text}`;
 * ```
 */
export interface Reply {
  readonly messageId: string;
  readonly from: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Question {
  /** A channel, or an agent to write to in private. */
  readonly to: { readonly channel: string } | { readonly agent: string };
  readonly body: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly timeoutMs?: number;
}

/** A message to agents, and so many answers to it. With too few in time the step gives what came. */
export function createReplyWait(
  engine: Engine,
  kind: 'turn' | 'collect',
  asked: Question,
): Activity {
  const { to, body, count, timeoutMs } = asked;
  return createWait(engine, {
    kind,
    ...(timeoutMs !== undefined && { timeoutMs }),
    async ask(visit) {
      const key = engine.keyOf(visit);
      const { message_id } = await passGuard(engine, visit, { ...to, body }, () =>
        'agent' in to
          ? sendPrivately(engine, to.agent, body, key)
          : send(engine, to.channel, body, key),
      );
      return kind === 'turn' ? { turn: { message_id } } : { collect: { message_id, count } };
    },
    async answer(_, { replies = [], turn }) {
      if (kind === 'turn' && replies.length === 0) return { error: noReply(turn) };
      const read: Reply[] = [];
      for (const message_id of replies) {
        const { message } = await engine.hub.call<{
          message: { sender: string; body: Readonly<Record<string, unknown>> };
        }>('messages.get', { message_id });
        read.push({ messageId: message_id, from: message.sender, body: message.body });
      }
      return { result: read, ...(turn?.cost != null && { cost: turn.cost }) };
    },
  });
}

/** The turn is over, and nobody will answer any more. */
function noReply(turn: Resolved['turn']): RecordedError {
  const why = turn?.note == null ? '' : `: ${turn.note}`;
  const message = cutMessage(`turn ${turn?.id} is ${turn?.state}, without a reply${why}`);
  return { name: 'NoReplyError', message, terminal: true };
}

type Body = Readonly<Record<string, unknown>>;

function send(
  engine: Engine,
  channel: string,
  body: Body,
  key: string,
): Promise<{ message_id: string }> {
  return engine.hub.call('channels.send', { channel, body, idempotency_key: shortKey(key) });
}

/** To an agent alone, in the channel of the two. */
export async function sendPrivately(
  engine: Engine,
  agent: string,
  body: Body,
  key: string,
): Promise<{ message_id: string }> {
  const { agent_id } = await engine.hub.call<{ agent_id: string }>('hub.whoami', {});
  return send(engine, `dm/${[agent_id, agent].sort().join('~')}`, body, key);
}

/** Keys of operations are short; of a long one its digest is as good. */
function shortKey(key: string): string {
  const isShort = key.length <= 64 && /^[\w.:/@-]+$/.test(key);
  return isShort ? key : createHash('sha256').update(key).digest('base64url').slice(0, 43);
}
