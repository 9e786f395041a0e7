/**
 * A session of the hub, for programs: the history of one conversation, read whole and consistent,
 * appended to, branched and handed on. Nothing of it is kept here: whoever opens it in another process
 * reads the same bytes.
 */
import { randomUUID } from 'node:crypto';
import { SynodError } from '../../client/error.ts';
import type { CallOutput } from '../../client/operations.ts';
import { withSpan } from '../../telemetry/scope.ts';
import type { NewItem, SessionItem } from '../../wire/operations/sessions.ts';
import type { HubCalls } from '../process/supervisor-options.ts';
import { chosenOf, type SessionFilter } from './filter.ts';

/**
 * How a session stands: who holds it, how long it is, which calls are open.
 *
 * @example
 * const { length, open_calls }: SessionView = await session.view();
 */
export type SessionView = CallOutput<'sessions.close'>;

/**
 * Which session: one that there is, by its id, or the one of a key, created the first time.
 *
 * @example
 * const options: OpenSessionOptions = { key: 'ticket-42', ttlMs: 0 };
 */
export interface OpenSessionOptions {
  readonly id?: string;
  /** Your own name for it. Left out, and without an id, a new session begins. */
  readonly key?: string;
  /** Who holds it; for people and administrators. */
  readonly agent?: string;
  /** How long after its last change it is over; 0 is never, left out it is 30 days. */
  readonly ttlMs?: number;
  /** The first items of a session that is new. */
  readonly seed?: readonly NewItem[];
}

/**
 * What another agent is given.
 *
 * @example
 * const options: HandoffOptions = { why: 'needs a review', input: { pr: 7 }, filter: withoutTools };
 */
export interface HandoffOptions {
  readonly why: string;
  readonly input?: unknown;
  /** Chooses among the items, once; what it leaves out is not there for the next holder. */
  readonly filter?: SessionFilter;
  /** Claims that go along; left out, all that the holder has. */
  readonly claims?: readonly string[];
}

/**
 * What a tool is given when it is called for a session.
 *
 * @example
 * const pay = ({ key }: ToolRun) => bank.transfer({ eur: 5, idempotencyKey: key });
 */
export interface ToolRun {
  readonly callId: string;
  /** The same however often it is asked: for the tool to recognise a call that it had before. */
  readonly key: string;
}

/**
 * A session of the hub, as `openSession` gives it.
 *
 * @example
 * async function greet(session: Session): Promise<void> {
 *   await session.append({ kind: 'assistant', content: 'Hello' });
 * }
 */
export interface Session {
  readonly id: string;
  readonly hub: HubCalls;
  view(): Promise<SessionView>;
  /** The items at one moment, oldest first; with `last` only the newest. */
  items(options?: { readonly last?: number }): Promise<SessionItem[]>;
  /** All or none. With `expectedLength` only to a history that is so long. */
  append(
    items: NewItem | readonly NewItem[],
    options?: { readonly expectedLength?: number },
  ): Promise<SessionView>;
  /** Calls a tool: the call is stored before it runs, and its result, or its error, after it. */
  tool<T>(name: string, args: unknown, run: (call: ToolRun) => Promise<T> | T): Promise<T>;
  /** Stores `unknown` as the result of every call that has none, so that one can go on. */
  settle(): Promise<SessionView>;
  fork(options?: { readonly length?: number; readonly key?: string }): Promise<Session>;
  rewind(length: number): Promise<SessionView>;
  compact(summary: string, options?: { readonly keep?: number }): Promise<SessionView>;
  share(agent: string, access?: 'read' | 'append' | 'none'): Promise<SessionView>;
  close(reason?: string): Promise<SessionView>;
  /** Gives it to another agent. False when it went round too often: then a person was asked. */
  handoff(to: string, options: HandoffOptions): Promise<boolean>;
}

/** Items of one append; more are appended in several. */
const APPEND_MAX = 100;
/** How often a history that changes while it is read is read again. */
const READS_MAX = 10;

/**
 * Opens a session: what another process appended is there, and what is appended outlives this one.
 *
 * @example
 * const session = await openSession(hub, { key: 'ticket-42' });
 * await session.append({ kind: 'user', content: 'Where is my parcel?' });
 * const where = await session.tool('track', { parcel: 7 }, ({ key }) => track(7, key));
 */
export async function openSession(
  hub: HubCalls,
  options: OpenSessionOptions = {},
): Promise<Session> {
  const { id, key, agent, ttlMs, seed } = options;
  if (id !== undefined) {
    await hub.call('sessions.get', { session_id: id, limit: 0 });
    return sessionOf(hub, id);
  }
  const made = await hub.call('sessions.create', {
    ...(key !== undefined && { key }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(ttlMs !== undefined && { ttl_ms: ttlMs }),
    ...(seed !== undefined && { seed: [...seed] }),
  });
  return sessionOf(hub, made.session_id);
}

function sessionOf(hub: HubCalls, id: string): Session {
  const on = { session_id: id } as const;

  async function read(last?: number): Promise<{ view: SessionView; items: SessionItem[] }> {
    for (let tries = 0; tries < READS_MAX; tries++) {
      const whole = await readOnce(last);
      if (whole !== null) return whole;
    }
    throw new SynodError('session.length', `${id} changes faster than it can be read; try again`);
  }

  /** Null when it changed between two pages. */
  async function readOnce(last?: number) {
    const items: SessionItem[] = [];
    let from = 0;
    let view: SessionView | null = null;
    for (;;) {
      const page = await hub.call('sessions.get', {
        ...{ ...on, from, limit: 500 },
        ...(last !== undefined && { last }),
      });
      if (view !== null && page.session.version !== view.version) return null;
      view = page.session;
      items.push(...page.items);
      if (page.next === null) return { view, items };
      from = page.next;
    }
  }

  async function append(
    items: NewItem | readonly NewItem[],
    options: { readonly expectedLength?: number } = {},
  ): Promise<SessionView> {
    const list = 'kind' in items ? [items] : [...items];
    let expected = options.expectedLength;
    let view: SessionView | null = null;
    for (let i = 0; i < list.length; i += APPEND_MAX) {
      const some = list.slice(i, i + APPEND_MAX);
      const answer = await hub.call('sessions.append', {
        ...{ ...on, items: some },
        ...(expected !== undefined && { expected_length: expected }),
      });
      view = answer.session;
      if (expected !== undefined) expected += some.length;
    }
    return view ?? (await read(0)).view;
  }

  const session: Session = {
    id,
    hub,
    append,
    view: async () => (await hub.call('sessions.get', { ...on, limit: 0 })).session,
    items: async ({ last } = {}) => (await read(last)).items,
    async tool(name, args, run) {
      const callId = randomUUID();
      const call = { kind: 'tool_call', call_id: callId, name, arguments: args } as const;
      const { open_calls: open } = await append(call);
      const key = open.find((one) => one.call_id === callId)?.key ?? callId;
      const result = { kind: 'tool_result', call_id: callId } as const;
      let output: Awaited<ReturnType<typeof run>>;
      try {
        output = await withSpan(
          `execute_tool ${name}`,
          { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name },
          () => run({ callId, key }),
          { ids: { session: id } },
        );
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : String(cause);
        await append({ ...result, state: 'error', output: message });
        throw cause;
      }
      await append({ ...result, output: output ?? null });
      return output;
    },
    async settle() {
      const { view } = await read(0);
      const unknown = view.open_calls.map(({ call_id, key }) => ({
        ...({ kind: 'tool_result', call_id, state: 'unknown', output: { key } } as const),
      }));
      return unknown.length === 0 ? view : append(unknown);
    },
    async fork(options = {}) {
      const made = await hub.call('sessions.fork', { ...on, ...options });
      return sessionOf(hub, made.session_id);
    },
    rewind: (length) => hub.call('sessions.rewind', { ...on, length }),
    compact: (summary, { keep = 0 } = {}) => hub.call('sessions.compact', { ...on, summary, keep }),
    share: (agent, access = 'read') =>
      hub.call('sessions.share', { ...on, agent_id: agent, access }),
    close: (reason) =>
      hub.call('sessions.close', { ...on, ...(reason !== undefined && { reason }) }),
    async handoff(to, { why, input, filter, claims }) {
      const chosen = filter === undefined ? null : await chosenFrom(filter);
      const { parked } = await hub.call('sessions.handoff', {
        ...{ ...on, to, why },
        ...(input !== undefined && { input }),
        ...(claims !== undefined && { claims: [...claims] }),
        // What was read is what is filtered: a history that changed since is refused.
        ...(chosen !== null && { keep: chosen.keep, expected_length: chosen.length }),
      });
      return !parked;
    },
  };

  async function chosenFrom(filter: SessionFilter) {
    const { view, items } = await read();
    return { keep: chosenOf(filter, items), length: view.length };
  }

  return session;
}
