/**
 * Who decides what an agent asks: a function of the caller, or people at the hub by a gate; else nobody, which
 * is a no that says so [VC3]. A gate that nobody waits for any more is withdrawn.
 */
import type { CallId, CallInput } from '../../../client/operations.ts';
import { createPermissions, type GateWish, type Permission } from '../../../vendor/permission.ts';
import type { PermissionAsk } from '../../../vendor/permission-ask.ts';
import { askGate } from '../../../wire/ask-gate.ts';
import type { GateOutcome } from '../../../wire/gate-words.ts';
import { sentenceOf } from '../supervisor-options.ts';
import type { AgentClientOptions } from './agent-client.ts';
import type { TurnStream } from './turn-stream.ts';

export interface ClientApprovals {
  ask(ask: PermissionAsk): Promise<Permission>;
  /** Puts a question before people, where there is a hub; and in the stream. */
  question(text: string): Promise<void>;
}

type Deciders = Pick<AgentClientOptions, 'hub' | 'approve' | 'askSeconds'>;

const QUESTION_CHARS_MAX = 2_000;

/** For one turn. */
export function createApprovals(deciders: Deciders, stream: TurnStream): ClientApprovals {
  const { signal } = stream;
  const permissions = createPermissions({
    askGate: (wish) => decide(deciders, wish, signal),
    note: (text) => stream.push({ type: 'notice', text }),
    signal,
    deadline: deciders.askSeconds ?? null,
  });
  return {
    async ask(ask) {
      const permission = await permissions.ask(ask);
      const { state, words } = permission;
      stream.push({ type: 'approval', action: ask.action, subject: ask.subject, state, words });
      return permission;
    },
    async question(text) {
      stream.push({ type: 'question', text });
      const asked = { kind: 'question', text: text.slice(0, QUESTION_CHARS_MAX) } as const;
      await deciders.hub?.call('docket.raise', asked).catch(() => {});
    },
  };
}

async function decide(
  { hub, approve }: Deciders,
  wish: GateWish,
  signal: AbortSignal,
): Promise<GateOutcome> {
  if (approve !== undefined) {
    const { action, subject, payload } = wish;
    const asked = Promise.resolve(approve({ action, subject, payload, signal }));
    const isYes = await Promise.race([asked, aborted(signal)]);
    if (isYes === null) return { state: 'withdrawn', by: null, reason: 'the turn has ended' };
    return {
      state: isYes === true ? 'approved' : 'denied',
      by: 'the program that runs it',
      reason: null,
    };
  }
  if (hub === undefined) {
    const reason = 'nobody was there to ask: the client has neither a hub nor a function approve';
    return { state: 'withdrawn', by: null, reason };
  }
  let gateId: string | null = null;
  const call = async (
    id: string,
    input: object,
  ): Promise<Readonly<Record<string, unknown>> | string> => {
    try {
      return await hub.call(id as CallId, input as CallInput<CallId>);
    } catch (error) {
      return sentenceOf(error);
    }
  };
  const withdraw = (): void => {
    const reason = 'the turn that asked has ended';
    if (gateId !== null) void call('gates.withdraw', { gate_id: gateId, reason });
  };
  signal.addEventListener('abort', withdraw, { once: true });
  try {
    return await askGate(call, { ...wish, tell: false }, signal, (id) => {
      gateId = id;
      if (signal.aborted) withdraw();
    });
  } finally {
    signal.removeEventListener('abort', withdraw);
  }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
