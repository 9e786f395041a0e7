/**
 * The desk: where an operation is carried out, once for every door.
 *
 * authenticate → (plugins) → rate limit → input → access → handler → hub. Doors
 * bring an introduction and raw input and take away an answer; no rule lives in a door, and
 * no HTTP lives here. Without plugins the chain costs nothing.
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { readTraceparent } from '../../core/law/traceparent.ts';
import { toolsOf } from '../../core/turns/turn-token.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Signal } from '../../hub/watch.ts';
import { isMaking, type Operation, type ParsedInputOf } from '../../wire/operation.ts';
import type { send } from '../../wire/operations/channels.ts';
import { streamOpen } from '../../wire/operations/inbox.ts';
import type { PluginHost } from '../plugins/host.ts';
import type { Builtin } from '../plugins/pipeline.ts';
import { checkAccess } from './access.ts';
import { createActivities, markCall } from './activity.ts';
import { type Answer, refusalAnswer, refusalOf } from './answer.ts';
import { type Audit, createAudit } from './audit.ts';
import { createBuiltins } from './builtins.ts';
import type { Caller, Introduction } from './caller.ts';
import type { ReportFailure } from './failure.ts';
import { HANDLERS } from './handlers/handlers.ts';
import { sendThen } from './handlers/send.ts';
import { type Health, toHealth } from './health.ts';
import { askStanding, createIdentity, type IdentityOptions } from './identity.ts';
import { parseInput } from './input.ts';
import type { Platform } from './platform.ts';
import type { About, HandledId, Room, Run } from './room.ts';
import { DEFAULT_SPACE, type Spaces } from './spaces.ts';
import { openStream, type Stream, type StreamSink } from './stream.ts';
import { callThroughPlugins } from './through-plugins.ts';
import { createTogether } from './together.ts';
import { createWebSessions, type OpenedSession } from './web-sessions.ts';

export interface CallOptions {
  readonly correlationId?: string;
  readonly wantsTrace?: boolean;
  /** Aborted when the caller is gone. */
  readonly signal?: Signal;
  /** The trace that the call belongs to; what is none is passed over [TL8]. */
  readonly traceparent?: string | null | undefined;
}

export interface Desk {
  authenticate(introduction: Introduction): Promise<Caller | Refusal>;
  /** A browser comes by a link: what it is to keep, or why it stays out. */
  enter(secret: string, device: string): Promise<OpenedSession | Refusal>;
  call(
    caller: Caller,
    operation: Operation,
    input: unknown,
    options?: CallOptions,
  ): Promise<Answer>;
  /**
   * For a door that says an operation's answer in its own form: `run` is carried out in the place of
   * the operation, with the same measure, access, plugins and record around it.
   */
  callAs(
    caller: Caller,
    operation: Operation,
    input: unknown,
    run: Run,
    signal?: Signal,
  ): Promise<Answer>;
  /** Operations that the caller is held to; null: it is held to none [TN17]. */
  toolsOf(caller: Caller): Promise<ReadonlySet<string> | null>;
  /** The hot path: the same, by callback. */
  callThen(
    caller: Caller,
    operation: Operation,
    input: unknown,
    done: (answer: Answer) => void,
    options?: Pick<CallOptions, 'signal' | 'traceparent'>,
  ): void;
  /** What it was given is not taken yet: its next pages wait until the answer is called [SV9]. */
  holdPages(caller: Caller): () => void;
  openStream(
    caller: Caller,
    input: unknown,
    sink: StreamSink,
  ): Promise<{ readonly stream: Stream } | { readonly error: Answer }>;
  /** Tells of tokens that were revoked, rotated or over with their turn; the answer stops the telling. */
  onRevoked(listener: (tokenId: string) => void): () => void;
  health(): Health;
  readonly nodeId: string;
  readonly isOpenMode: boolean;
}

export interface DeskOptions {
  readonly identity: IdentityOptions;
  readonly spaces: Spaces;
  readonly about: About;
  readonly nodeId: string;
  /** For every agent; null limits those with a token, and leaves the owner's alone. */
  readonly callsPerSecond: number | null;
  /** SOX's test switch: every operation is refused with this. */
  readonly fault: Refusal | null;
  /** Is every open space's store answering? */
  isStoreOk(): boolean;
  readonly report: ReportFailure;
  readonly platform: Platform;
}

/** The chain is made of the desk's own units and plugins; the server hands it in once it is built. */
export interface DeskParts {
  readonly desk: Desk;
  usePlugins(host: PluginHost): void;
  /** To be called for every space that opens. */
  attend(hub: Hub): void;
  /** When each space was asked for anything last; infinite where somebody is connected. */
  uses(): ReadonlyMap<string, number>;
  readonly builtins: readonly Builtin[];
}

/** Operations that read the inbox. */
const DRAINS: ReadonlySet<string> = new Set(['channels.recv', 'inbox.commit']);

export function createDesk(options: DeskOptions): DeskParts {
  const { spaces, about, nodeId, report, platform, callsPerSecond } = options;
  const activities = createActivities((space) => spaces.find(space)?.whispers ?? null);
  const revocationListeners = new Set<(tokenId: string) => void>();
  const onRevoked = (tokenId: string): void => {
    for (const listener of revocationListeners) listener(tokenId);
  };
  const authenticate = createIdentity(options.identity, spaces, activities, platform, onRevoked);
  const together = createTogether({ spaces, platform, activities, callsPerSecond, onRevoked });
  const webSessions = createWebSessions(platform, spaces);
  const audit: Audit = createAudit(spaces, platform);
  let host: PluginHost | null = null;

  /** One call on its way. */
  interface Passage {
    readonly caller: Caller;
    readonly operation: Operation;
    readonly input: unknown;
    readonly correlationId: string;
    readonly signal: Signal | null;
    readonly startedAt: number;
    /** In the place of the operation's own handler. */
    readonly run: Run | null;
    readonly trace: string | null;
  }

  function precheck(caller: Caller, operation: string): Refusal | null {
    if (markCall(caller.activity, operation, platform.now())) {
      const hub = spaces.find(caller.space);
      hub?.submitThen({ type: 'agent.see', by: caller.principal, at: hub.stamp() }, () => {});
    }
    if (options.fault !== null) return options.fault;
    return together.measure(caller);
  }

  /** A call that was on its way while its space was removed is told so, and not that the store is down. */
  async function whyClosed(refusal: Refusal, space: string, hub: Hub): Promise<Refusal> {
    if (refusal.refused !== 'store.unavailable' || spaces.find(space) === hub) return refusal;
    const again = await spaces.open(space, { mayCreate: false });
    return isRefusal(again) ? again : refusal;
  }

  async function carryOut(passage: Passage): Promise<Record<string, unknown> | Refusal> {
    const { caller, operation } = passage;
    const denied = checkAccess(caller, operation.access);
    if (denied !== null) return denied;
    const parsed = parseInput(operation, passage.input);
    if (isRefusal(parsed)) return parsed;
    const space = operation.isAboutSpaces ? DEFAULT_SPACE : caller.space;
    const mayCreate = caller.mayMakeSpace && isMaking(operation);
    const leave = mayCreate ? spaces.enter(space) : null;
    const outcome = carryOutIn(space, mayCreate, passage, parsed.value);
    return leave === null ? outcome : outcome.finally(leave);
  }

  async function carryOutIn(
    space: string,
    mayCreate: boolean,
    passage: Passage,
    value: unknown,
  ): Promise<Record<string, unknown> | Refusal> {
    const { caller, operation, correlationId, signal, startedAt, trace } = passage;
    const hub = spaces.find(space) ?? (await spaces.open(space, { mayCreate }));
    if (isRefusal(hub)) return hub;
    const fallen = caller.principal.turn && (await askStanding(hub, caller, operation.id));
    if (fallen) return fallen;
    if (passage.run !== null) return passage.run(caller, passage.input);
    const checkedAt = platform.elapsedMs();
    const room: Room = {
      ...{ caller, by: caller.principal, hub, spaces, platform, activities, webSessions },
      ...{ nodeId, correlationId, signal, about, trace, proofs: together.proofs },
      timings: () => [
        timing('auth', caller.authMs),
        timing('schema_validator', checkedAt - startedAt),
        timing('store_dispatch', platform.elapsedMs() - checkedAt),
      ],
      instead: (other, input, run) => carryOutInstead({ ...passage, operation: other, input, run }),
    };
    const handler = HANDLERS[operation.id as HandledId] as
      | ((room: Room, input: unknown) => Promise<Record<string, unknown> | Refusal>)
      | undefined;
    if (handler === undefined) {
      return refuse(
        'operation.unknown',
        `${operation.name} needs a connection that stays open; use /ws`,
      );
    }
    const outcome = await handler(room, value);
    // Hooks remind an agent of its inbox until it has looked, by whatever door and whatever it found.
    if (DRAINS.has(operation.id) && !isRefusal(outcome))
      caller.activity.lastDrainAt = platform.now();
    return isRefusal(outcome) ? whyClosed(outcome, space, hub) : outcome;
  }

  async function carryOutInstead(passage: Passage): Promise<Record<string, unknown> | Refusal> {
    const { operation, caller } = passage;
    if (!host?.appliesTo(operation.name, caller.transport)) return carryOut(passage);
    const answer = await throughPlugins(host, passage, false);
    return 'ok' in answer ? answer.ok : refusalOf(answer.error);
  }

  async function call(
    caller: Caller,
    operation: Operation,
    input: unknown,
    callOptions: CallOptions = {},
    {
      isCounted = false,
      run = null,
    }: { readonly isCounted?: boolean; readonly run?: Run | null } = {},
  ): Promise<Answer> {
    const correlationId = callOptions.correlationId ?? platform.newId();
    const passage: Passage = {
      ...{ caller, operation, input, correlationId },
      signal: callOptions.signal ?? null,
      startedAt: platform.elapsedMs(),
      run,
      trace: readTraceparent(callOptions.traceparent),
    };
    if (
      host !== null &&
      (callOptions.wantsTrace || host.appliesTo(operation.name, caller.transport))
    ) {
      const { wantsTrace = false } = callOptions;
      const plugins = host;
      const answer = await guarded(operation.name, correlationId, () =>
        throughPlugins(plugins, passage, wantsTrace),
      );
      return isRefusal(answer) ? refusalAnswer(answer) : answer;
    }
    const outcome =
      (isCounted ? null : precheck(caller, operation.name)) ??
      (await guarded(operation.name, correlationId, () => carryOut(passage)));
    if (!isRefusal(outcome)) return { ok: outcome };
    audit(caller, operation.name, outcome);
    return refusalAnswer(outcome);
  }

  async function guarded<T>(
    what: string,
    correlationId: string | undefined,
    run: () => Promise<T>,
  ): Promise<T | Refusal> {
    try {
      return await run();
    } catch (cause) {
      return report(`${what} failed`, cause, correlationId);
    }
  }

  function throughPlugins(
    plugins: PluginHost,
    passage: Passage,
    wantsTrace: boolean,
  ): Promise<Answer> {
    const { operation, correlationId } = passage;
    return callThroughPlugins(plugins, callers, passage, wantsTrace, async (acting, input) => {
      const outcome =
        precheck(acting, operation.name) ??
        (await guarded(operation.name, correlationId, () =>
          carryOut({ ...passage, caller: acting, input }),
        ));
      if (isRefusal(outcome)) audit(acting, operation.name, outcome);
      return outcome;
    });
  }

  const callers = new WeakMap<object, Caller>();

  const desk: Desk = {
    nodeId,
    isOpenMode: options.identity.mode === 'open',
    async authenticate(introduction) {
      const caller = await guarded('authenticate', undefined, () => authenticate(introduction));
      if (isRefusal(caller)) audit(null, `authenticate as ${introduction.agent ?? '?'}`, caller);
      return caller;
    },
    holdPages: ({ space, principal }) => spaces.find(space)?.turns.hold(principal.id) ?? (() => {}),
    enter: (secret, device) => guarded('enter', undefined, () => webSessions.enter(secret, device)),
    call: (caller, operation, input, callOptions) => call(caller, operation, input, callOptions),
    callAs: (caller, operation, input, run, signal) =>
      call(caller, operation, input, signal && { signal }, { run }),
    async toolsOf({ principal, space }) {
      const hub = principal.turn === undefined ? null : spaces.find(space);
      const tools = await hub?.ask((world) => toolsOf(world, principal));
      return tools == null || isRefusal(tools) ? null : new Set(tools);
    },
    callThen(caller, operation, input, done, callOptions) {
      const isShort = operation.id === 'channels.send' && caller.principal.turn === undefined;
      const isPlainSend = isShort && !(host?.appliesTo('send', caller.transport) ?? false);
      const hub = isPlainSend ? spaces.find(caller.space) : null;
      const refused =
        hub === null
          ? null
          : (precheck(caller, operation.name) ?? checkAccess(caller, operation.access));
      if (refused !== null) {
        audit(caller, operation.name, refused);
        done(refusalAnswer(refused));
        return;
      }
      if (hub !== null) {
        const parsed = parseInput(operation, input);
        if (isRefusal(parsed)) {
          done(refusalAnswer(parsed));
          return;
        }
        const isTaken = sendThen(
          hub,
          caller,
          parsed.value as ParsedInputOf<typeof send>,
          readTraceparent(callOptions?.traceparent),
          (outcome) => {
            if (!isRefusal(outcome)) return done({ ok: outcome });
            audit(caller, operation.name, outcome);
            done(refusalAnswer(outcome));
          },
        );
        if (isTaken) return;
      }
      // What the short way would not take was counted there, and is not counted twice [O3].
      void call(caller, operation, input, callOptions, { isCounted: hub !== null }).then(done);
    },
    async openStream(caller, input, sink) {
      let opened: Stream | null = null;
      const run: Run = async (acting, asked) => {
        const outcome = await openStream(spaces, acting, asked, { sink, report, platform });
        if (isRefusal(outcome)) return outcome;
        opened = outcome;
        return { position: outcome.position };
      };
      const answer = await call(caller, streamOpen, input, {}, { run });
      // What runs behind the store may have refused; what runs ahead of it cannot be a stream.
      const stream = opened as Stream | null;
      if ('error' in answer) {
        stream?.close();
        return { error: answer };
      }
      if (stream !== null) return { stream };
      const message = 'a plugin answered in the place of the stream; it may only refuse one';
      return { error: refusalAnswer(refuse('operation.unknown', message)) };
    },
    onRevoked(listener) {
      revocationListeners.add(listener);
      return () => revocationListeners.delete(listener);
    },
    health: () => toHealth(options.isStoreOk(), platform.elapsedMs() - about.startedAt),
  };

  return {
    desk,
    usePlugins: (plugins) => {
      host = plugins;
    },
    attend: together.attend,
    uses: () => activities.uses(platform.now()),
    builtins: createBuiltins((context) => callers.get(context)),
  };
}

function timing(name: string, ms: number): string {
  return `${name}:${Math.round(ms)}ms`;
}
