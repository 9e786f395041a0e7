/** Streams for doors that keep a connection: a feed of messages, and receipts of those one sent or got. */

import type { GateEvent } from '../../core/gates/gate-events.ts';
import { maySee } from '../../core/gates/gate-view.ts';
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { messageId } from '../../core/talk/message-id.ts';
import { receiptFor } from '../../core/talk/receipt.ts';
import type { Bundle, Feed, FeedEnd, FeedSink } from '../../hub/feed.ts';
import type { Hub } from '../../hub/hub.ts';
import type { ReceiptChange } from '../../hub/watch.ts';
import type { ParsedInputOf } from '../../wire/operation.ts';
import { streamOpen } from '../../wire/operations/inbox.ts';
import type { Caller } from './caller.ts';
import { checkFollower, followChanges } from './changes.ts';
import type { ReportFailure } from './failure.ts';
import { followMarks } from './follow-marks.ts';
import { gateOutput } from './handlers/gates.ts';
import { receiptView } from './handlers/receipts.ts';
import { parseInput } from './input.ts';
import { readInPieces } from './message-page.ts';
import type { Platform } from './platform.ts';
import type { Spaces } from './spaces.ts';
import type { TurnWindow } from './turn-window.ts';

export interface ReceiptNotice {
  readonly message_id: string;
  readonly channel: string;
  readonly agent_id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly at: number | null;
}

export interface StreamSink {
  deliver(bundle: Bundle): boolean;
  ready(): Promise<void>;
  /** News beside messages, each kind under its name. */
  tell(
    kind: 'receipt' | 'mark' | 'gate' | 'turn.output' | 'changed',
    news: readonly object[],
  ): void;
  end(reason: FeedEnd): void;
}

export interface Stream {
  /** The newest position when it was opened. */
  readonly position: number;
  close(): void;
}

/** Receipt changes waiting to be looked up for one stream; more are dropped, the next query tells. */
const CHANGES_MAX = 10_000;

interface StreamParts {
  readonly sink: StreamSink;
  readonly report: ReportFailure;
  readonly platform: Platform;
}

export async function openStream(
  spaces: Spaces,
  caller: Caller,
  input: unknown,
  { sink, report, platform }: StreamParts,
): Promise<Stream | Refusal> {
  const parsed = parseInput(streamOpen, input);
  if (isRefusal(parsed)) return parsed;
  const { from, channels, receipts, marks, gates, turns, changes } = parsed.value as ParsedInputOf<
    typeof streamOpen
  >;
  const stranger = changes ? checkFollower(caller) : null;
  if (stranger !== null) return stranger;
  const hub = spaces.find(caller.space) ?? (await spaces.open(caller.space, { mayCreate: false }));
  if (isRefusal(hub)) return hub;
  if (typeof from === 'number') await hub.reach(from);
  const position = hub.stats.entries - 1;
  const by = caller.principal;
  const opened = new OpenStream(position, sink);
  const feed = hub.openFeed({ by, from, channels: channels ?? null }, opened);
  if (isRefusal(feed)) return feed;
  opened.feed = feed;
  const until = (stop: () => void): void => opened.until(stop);
  if (receipts) until(followReceipts(hub, caller, sink, report));
  if (marks) until(followMarks(hub, by, channels ?? null, (told) => sink.tell('mark', told)));
  if (gates) until(followGates(hub, caller, sink));
  if (turns && platform.turns) until(followTurns(platform.turns, caller, sink));
  if (changes) {
    until(followChanges(hub, platform, (changed) => sink.tell('changed', [changed])));
  }
  return opened;
}

/** Between the hub's feed and a door's sink: what else was followed ends with the feed. */
class OpenStream implements FeedSink, Stream {
  readonly position: number;
  feed: Feed | null = null;
  readonly #sink: StreamSink;
  #stops: readonly (() => void)[] = NOTHING_ELSE;

  constructor(position: number, sink: StreamSink) {
    this.position = position;
    this.#sink = sink;
  }

  /** It is called at the end. */
  until(stop: () => void): void {
    this.#stops = this.#stops.concat(stop);
  }

  deliver(bundle: Bundle): boolean {
    return this.#sink.deliver(bundle);
  }

  ready(): Promise<void> {
    return this.#sink.ready();
  }

  end(reason: FeedEnd): void {
    const stops = this.#stops;
    this.#stops = NOTHING_ELSE;
    for (const stop of stops) stop();
    this.#sink.end(reason);
  }

  close(): void {
    this.feed?.close();
  }
}

const NOTHING_ELSE: readonly (() => void)[] = [];

/** People hear every turn of their space, an agent its own [RU11]. */
function followTurns(said: TurnWindow, caller: Caller, sink: StreamSink): () => void {
  const { principal, space } = caller;
  const isPerson = principal.kind === 'human' || principal.kind === 'admin';
  return said.follow(({ space: where, ...output }) => {
    if (where !== space || (!isPerson && output.agent_id !== principal.id)) return;
    const lines = output.lines.map((line) => ({ ...line, at: line.at / 1000 }));
    sink.tell('turn.output', [{ ...output, lines }]);
  });
}

/** As soon as it is durable: whoever decides elsewhere is seen at every face at once [GT11]. */
function followGates(hub: Hub, caller: Caller, sink: StreamSink): () => void {
  return hub.watch.events((world, _first, events) => {
    const ids = new Set(events.flatMap((event) => (isGateEvent(event) ? [event.id] : [])));
    const told = [...ids].flatMap((id) => {
      const gate = world.gates.open.get(id) ?? world.gates.ended.get(id);
      return gate !== undefined && maySee(gate, caller.principal) ? [gateOutput(gate)] : [];
    });
    if (told.length > 0) sink.tell('gate', told);
  });
}

function isGateEvent(event: DurableEvent): event is GateEvent {
  return event.type.startsWith('gate.');
}

function followReceipts(
  hub: Hub,
  caller: Caller,
  sink: StreamSink,
  report: ReportFailure,
): () => void {
  let waiting: ReceiptChange[] = [];
  let isBusy = false;
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const changes = waiting;
      waiting = [];
      await tellChanges(hub, caller, sink, changes);
    }
  };
  return hub.watch.receipts((changes) => {
    waiting.push(...changes.slice(0, CHANGES_MAX - waiting.length));
    if (isBusy) return;
    isBusy = true;
    // A log that cannot be read now costs notices, never the connection: receipts.get tells later.
    void drain()
      .catch((cause) => report('receipts could not be told', cause))
      .finally(() => {
        isBusy = false;
      });
  });
}

/** Told piece by piece: what thousands of changes are about may be long, and none of it is kept. */
async function tellChanges(
  hub: Hub,
  caller: Caller,
  sink: StreamSink,
  changes: readonly ReceiptChange[],
): Promise<void> {
  const { id, kind } = caller.principal;
  const agents = new Map<number, string[]>();
  for (const { position, agent } of changes) {
    const known = agents.get(position);
    if (known === undefined) agents.set(position, [agent]);
    else known.push(agent);
  }
  for await (const piece of readInPieces({ hub, agent: id }, [...agents.keys()])) {
    const notices = await hub.ask((world) =>
      piece.flatMap((message) => {
        if (message === null) return [];
        const { position, channel, seq, by, expiresAt = null } = message;
        const subject = { position, channel, seq, expiresAt };
        return (agents.get(position) ?? []).flatMap((agent): ReceiptNotice[] => {
          if (by !== id && agent !== id && kind !== 'admin') return [];
          const receipt = receiptFor(world, subject, agent, hub.stamp());
          if (receipt === null) return [];
          return [{ message_id: messageId(position), channel, ...receiptView(receipt) }];
        });
      }),
    );
    if (!isRefusal(notices) && notices.length > 0) sink.tell('receipt', notices);
  }
}
