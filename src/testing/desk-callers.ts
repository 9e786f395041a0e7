/**
 * Callers of a simulation who come to the desk, as those of every door do: agents of different trust, a
 * person, an observer, the owner. Each call passes identity, rate, input and access before it reaches the
 * hub. What the desk answers is held against what is stored; what it refused must never appear, nobody
 * does what is not theirs to do, and nothing is ever an internal error.
 */
import { isRefusal, refuse } from '../core/law/decider.ts';
import { parseMessageId } from '../core/talk/message-id.ts';
import type { Hub } from '../hub/hub.ts';
import type { Answer } from '../server/desk/answer.ts';
import type { Caller, Introduction } from '../server/desk/caller.ts';
import { createDesk, type Desk } from '../server/desk/desk.ts';
import { createFailureReport } from '../server/desk/failure.ts';
import type { Platform } from '../server/desk/platform.ts';
import { findOperation } from '../wire/operations/table.ts';
import type { Chance } from './chance.ts';
import { pickThread } from './markers.ts';
import type { Venue } from './simulated-process.ts';
import type { Stage } from './stage.ts';

export interface DeskCallers {
  act(): void;
  /** Everything asked for by now, against everything stored. */
  check(): void;
  /** How often the desk carried out what, and refused why. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Who has what token; the owner needs none, and the owner's own agent neither. */
const TOKENS = {
  dan: { kind: 'agent', tier: 'standard' },
  uma: { kind: 'agent', tier: 'untrusted' },
  hal: { kind: 'human', tier: 'trusted' },
  olga: { kind: 'observer', tier: 'standard' },
} as const;
type TokenHolder = keyof typeof TOKENS;
const NAMES = ['ann', ...Object.keys(TOKENS)];
const CHANNELS = ['a', 'b', 'team/one', 'group/d'];
const PATTERNS = ['a', 'team/*', '*', 'sox/claims'];
const PATHS = ['src', 'src/a.ts', 'docs/*.md', 'lib/'];
const CALLS_PER_SECOND = 40;
/** Answers that leave open whether it was carried out. */
const OPEN: ReadonlySet<unknown> = new Set(['store.unknown', 'internal']);

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would, without our types.
type Json = any;

interface SendTry {
  readonly by: string;
  fate: 'asked' | 'stored' | 'refused';
}

export function createDeskCallers(stage: Stage): DeskCallers {
  const { chance, model } = stage;
  const desks = new WeakMap<Venue, Desk>();
  const tokens = new Map<string, string>();
  const sends = new Map<string, SendTry>();
  const answered = new Map<string, number>();
  const inHand = new Map<string, string[]>();
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const platform = createSimulatedPlatform(chance.fork(), stage);

  function deskAt(venue: Venue): Desk {
    const known = desks.get(venue);
    if (known !== undefined) return known;
    const hub = venue as Hub;
    const { desk } = createDesk({
      identity: { mode: 'local', ownerCredential: null, agents: null },
      spaces: {
        has: () => true,
        find: () => hub,
        open: async () => hub,
        enter: () => null,
        remove: async () => refuse('access.denied', 'there is one space'),
        onRemoved: () => () => {},
        list: () => [{ name: 'default', entries: hub.stats.entries }],
      },
      about: {
        version: '0',
        startedAt: 0,
        plugins: [],
        heartbeatTtl: null,
        pageUrl: () => 'http://localhost',
      },
      nodeId: 'simulated',
      callsPerSecond: CALLS_PER_SECOND,
      fault: null,
      isStoreOk: () => hub.isAvailable,
      report: createFailureReport((line, cause) => {
        const code = (cause as { code?: unknown })?.code;
        if (!String(code).startsWith('log.')) stage.fail(`${line}: ${cause}`);
      }, platform.newId),
      platform,
    });
    desks.set(venue, desk);
    return desk;
  }

  async function seat(desk: Desk, name: string): Promise<Caller | null> {
    const introduction: Introduction = {
      ...{ token: null, space: null, clientVersion: null, transport: 'http', connectionId: name },
      ...{ agent: name === 'owner' ? null : name, isOwnerSocket: !(name in TOKENS) },
      wantsOwner: name === 'owner',
    };
    const token = tokens.get(name) ?? null;
    if (name in TOKENS && token === null) return null;
    const caller = await desk.authenticate({ ...introduction, token });
    if (isRefusal(caller)) return null;
    if (name in TOKENS) {
      const { kind, tier } = TOKENS[name as TokenHolder];
      const { principal } = caller;
      if (principal.id !== name || principal.kind !== kind || principal.tier !== tier) {
        stage.fail(`${name} became ${JSON.stringify(principal)}`);
      }
    }
    return caller;
  }

  /** Calls as one of the cast; the answer is looked at once it has come. */
  function call(
    by: string,
    id: string,
    input: Json,
    onAnswer: (answer: Json | null, reason: unknown) => void = () => {},
  ): boolean {
    const operation = findOperation(id);
    if (operation === undefined) throw new Error(`there is no operation ${id}`);
    const where = stage.begin(
      `${by} at the desk: ${id} ${JSON.stringify(input)}`,
      async (venue) => {
        const desk = deskAt(venue);
        const caller = await seat(desk, by);
        if (caller === null) return onAnswer(null, 'access.unknown');
        const answer: Answer = await desk.call(caller, operation, input);
        stage.learn();
        if ('ok' in answer) {
          count(id);
          return onAnswer(answer.ok, null);
        }
        if (answer.error.error_code === 'internal_error') {
          stage.fail(`${by} ${id}: ${answer.error.message}`);
        }
        const reason = answer.error.detail?.reason;
        count(`${id}: ${reason}`);
        // Every input is one that a client would send, but for the one that is meant to be wrong.
        if (reason === 'input.invalid' && !('extra' in input)) {
          stage.fail(`${by} ${id}: ${answer.error.message}`);
        }
        onAnswer(null, reason);
      },
    );
    return where !== null;
  }

  function send(by: string): void {
    const id = `desk-${sends.size}`;
    const tried: SendTry = { by, fate: 'asked' };
    const input = {
      channel: chance.pick(CHANNELS),
      body: { id, text: 'x'.repeat(chance.int(0, 30)) },
      ...(chance.isLikely(0.2) && { ttl_ms: chance.int(1, 20_000) }),
    };
    const isBegun = call(by, 'channels.send', input, (answer, reason) => {
      if (answer === null) {
        if (!OPEN.has(reason)) tried.fate = 'refused';
        return;
      }
      tried.fate = 'stored';
      if (by === 'olga') stage.fail('an observer sent a message');
      const position = parseMessageId(answer.message_id);
      const stored = model.messages.find((one) => one.position === position);
      if (stored?.body.id !== id || stored.by !== by) {
        stage.fail(`${id} was acknowledged at ${position}, where it is not stored`);
      }
      if (by === 'uma' && stored?.wasHeld === false) stage.fail(`${id} of uma waits for nobody`);
    });
    if (isBegun) sends.set(id, tried);
  }

  function recv(by: string): void {
    const input = {
      max_messages: chance.int(1, 12),
      ...(chance.isLikely(0.3) && { lease_ms: chance.int(1000, 8000) }),
      ...(chance.isLikely(0.3) && { wait_ms: chance.int(1, 2000) }),
    };
    call(by, 'channels.recv', input, (answer) => {
      const last = new Map<string, number>();
      for (const { message_id, channel, seq, sender, body } of answer?.messages ?? []) {
        const position = parseMessageId(message_id) ?? -1;
        const key = `${position} ${by}`;
        const times = (answered.get(key) ?? 0) + 1;
        answered.set(key, times);
        if (times > model.deliveries(position, by))
          stage.fail(`${by} got ${position} once too often`);
        if (seq <= (last.get(channel) ?? 0)) stage.fail(`${by} got ${channel} ${seq} out of order`);
        last.set(channel, seq);
        const stored = model.messages.find((one) => one.position === position);
        if (stored?.by !== sender || JSON.stringify(stored?.body) !== JSON.stringify(body)) {
          stage.fail(`${by} was shown ${position} as it is not stored`);
        }
        if (stored?.hold !== 'none') stage.fail(`${by} got ${position}, which is ${stored?.hold}`);
        inHand.set(by, [...(inHand.get(by) ?? []).slice(-20), message_id]);
      }
    });
  }

  function ack(by: string): void {
    const message_id = chance.pick([...(inHand.get(by) ?? []), null]);
    if (message_id === null) return;
    const status = chance.pick(['received', 'processing', 'done', 'nack']);
    call(by, 'channels.ack', { message_id, status }, (answer) => {
      const position = parseMessageId(message_id) ?? -1;
      if (answer !== null && model.fate(position, by) === null) {
        stage.fail(`an ack of ${message_id} was answered and not stored`);
      }
    });
  }

  function receipts(by: string): void {
    const mine = model.messages.filter((one) => one.by === by);
    if (mine.length === 0) return;
    const { position } = chance.pick(mine);
    call(by, 'receipts.get', { message_id: `m${position}` });
  }

  function mark(by: string): void {
    const mine = model.messages.filter((one) => one.by === by).slice(-5);
    const own = chance.pick([...mine, null]);
    const thread = own ? stage.threads.threadOf(own.position) : pickThread(stage);
    if (thread === undefined) return;
    const wish = chance.pick(['close', 'reopen', 'pin', 'resolve', 'unresolve']);
    const note = wish === 'close' ? { note: `says ${by}` } : {};
    const said = chance.pick([thread.position, ...thread.replies]);
    const input = { message_id: `m${said}`, mark: wish, ...note };
    call(by, 'threads.mark', input, (answer, reason) => {
      const isAble = stage.threads.mayMark(thread, by);
      if (answer === null) {
        if (reason === 'mark.not-author' && isAble) stage.fail(`${by} may mark ${thread.position}`);
        return;
      }
      if (!isAble) stage.fail(`${by}, a stranger, was told that ${thread.position} is marked`);
      if (answer.thread.thread_id !== `m${thread.position}`) {
        stage.fail(`${answer.thread.thread_id} was marked instead of ${thread.position}`);
      }
    });
  }

  /** A thread as the desk shows it: in order, of this thread alone, with marks that are stored. */
  function readThread(by: string): void {
    const thread = pickThread(stage);
    if (thread === undefined) return;
    const said = chance.pick([thread.position, ...thread.replies]);
    const input = { message_id: `m${said}`, limit: chance.int(1, 9) };
    call(by, 'threads.get', input, (answer) => {
      if (answer === null) return;
      const shown = answer.replies.map((one: Json) => parseMessageId(one.message_id) ?? -1);
      const known = new Set(thread.replies);
      const isInOrder = shown.every((one: number, i: number) => i === 0 || one > shown[i - 1]);
      if (!isInOrder || !shown.every((one: number) => known.has(one))) {
        stage.fail(`the thread of ${thread.position} has ${thread.replies}, ${by} saw ${shown}`);
      }
      const { version, thread_id, reply_count } = answer.thread;
      if (thread_id !== `m${thread.position}` || version > thread.marks.length) {
        stage.fail(`${by} saw ${thread_id} at ${version}, it has marks ${thread.marks}`);
      }
      if (reply_count > known.size) stage.fail(`${by} saw ${reply_count} replies of ${known.size}`);
    });
  }

  /** What only the owner may do; a token is made again when it was revoked. */
  function administer(): void {
    const name = chance.pick(Object.keys(TOKENS)) as TokenHolder;
    const by = chance.pick(['owner', 'owner', 'ann', ...Object.keys(TOKENS)]);
    const input = { agent_id: name, ...TOKENS[name] };
    call(by, 'tokens.create', input, (answer) => {
      if (answer === null) return;
      if (by !== 'owner') stage.fail(`${by} made a token`);
      else tokens.set(name, answer.token);
    });
  }

  function review(by: string): void {
    const held = model.messages.filter(({ hold }) => hold === 'held');
    if (held.length === 0) return;
    const { position } = chance.pick(held);
    const decision = chance.pick(['release', 'refuse']);
    call(by, 'held.review', { message_id: `m${position}`, decision }, (answer) => {
      if (answer !== null && by !== 'hal' && by !== 'owner') stage.fail(`${by} released a message`);
    });
  }

  const others: readonly ((by: string) => void)[] = [
    (by) => call(by, 'channels.subscribe', { pattern: chance.pick(PATTERNS) }),
    (by) => call(by, 'channels.subscribe', { pattern: chance.pick(PATTERNS) }),
    (by) => call(by, 'channels.unsubscribe', { channels: [chance.pick(PATTERNS)] }),
    (by) => call(by, 'channels.heartbeat', { status: 'online', ttl: chance.int(1, 9) }),
    (by) => call(by, 'channels.list_channels', {}),
    (by) => call(by, 'inbox.peek', {}),
    (by) => call(by, 'group.create', { group_id: 'd', id_mode: 'client' }),
    (by) => call(by, 'group.invite', { group_id: 'd', agent_id: chance.pick(NAMES) }),
    (by) => call(by, 'group.join', { group_id: 'd' }),
    (by) => call(by, 'group.leave', { group_id: 'd' }),
    (by) => {
      const wait = chance.isLikely(0.3) ? { wait_ms: chance.int(1, 2000) } : {};
      const scope = {
        worktree: 'desk',
        paths: [chance.pick(PATHS)],
        ttl_seconds: chance.int(5, 60),
      };
      call(by, 'claims.take', { task_id: `d${chance.int(1, 4)}`, ...scope, ...wait });
    },
    (by) => call(by, 'claims.release', { task_id: `d${chance.int(1, 4)}` }),
    (by) => call(by, 'claims.check', { worktree: 'desk', paths: [chance.pick(PATHS)] }),
    // What is no input at all is refused like anything else.
    (by) => call(by, 'channels.send', { channel: 7, extra: true }),
  ];

  const acts: readonly ((by: string) => void)[] = [
    ...[send, send, send, send, recv, recv, recv, ack, receipts, review, administer],
    ...[mark, mark, readThread],
    ...[...Array(5)].map(() => (by: string) => chance.pick(others)(by)),
  ];

  return {
    counts,
    act() {
      // Before anything else the owner gives everybody a token.
      if (tokens.size < Object.keys(TOKENS).length && chance.isLikely(0.5)) administer();
      else chance.pick(acts)(chance.pick(NAMES));
    },
    check() {
      const stored = new Map<unknown, number>();
      for (const { body, by } of model.messages) {
        if (by === 'olga') stage.fail('a message of an observer is stored');
        if (typeof body.id === 'string') stored.set(body.id, (stored.get(body.id) ?? 0) + 1);
      }
      for (const [id, { fate }] of sends) {
        const times = stored.get(id) ?? 0;
        if (times > 1) stage.fail(`${id} is stored ${times} times`);
        if (fate === 'stored' && times !== 1) stage.fail(`${id} was acknowledged and is gone`);
        if (fate === 'refused' && times > 0) stage.fail(`${id} was refused and is stored`);
      }
    },
  };
}

/** Time from the simulation, chance from its seed; a digest that is one within a simulation. */
function createSimulatedPlatform(chance: Chance, { clock }: Stage): Platform {
  const hex = (chars: number): string =>
    Array.from({ length: chars }, () => chance.int(0, 15).toString(16)).join('');
  return {
    now: () => clock.now(),
    elapsedMs: () => clock.elapsedMs(),
    after: (ms, run) => void clock.after(ms, run),
    newId: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    newSecret: () => hex(43),
    digest: (text) =>
      [...text]
        .map((char) => char.charCodeAt(0).toString(16))
        .join('')
        .padEnd(64, '0'),
    sealPassphrase: async (passphrase) => `sealed ${passphrase}`,
    checkPassphrase: async (passphrase, seal) => seal === `sealed ${passphrase}`,
    placeScope: async (worktree, paths) =>
      paths.includes('..') ? refuse('scope.escape', 'it leads out') : { worktree, paths },
    schemas: { check: () => ({ violations: [], count: 0 }), problem: () => null },
  };
}
