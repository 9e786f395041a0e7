/**
 * News for the sockets: what is recorded in the space becomes frames, those of a batch encoded once and
 * written to everybody at once; what concerns one agent goes to its socket alone. It also keeps the
 * roster: everybody who is here, by whatever door.
 */
import { isRefusal } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import { dmParties, toChannel } from '../../../core/law/name.ts';
import type { WorldView } from '../../../core/law/state.ts';
import type { DurableEvent } from '../../../core/law/world.ts';
import type { Hub } from '../../../hub/hub.ts';
import { isFields } from '../../../wire/fields.ts';
import type { ReportFailure } from '../../desk/failure.ts';
import { AT_ONCE, type FanOut } from '../fan-out.ts';
import { encodeFrames } from '../frames.ts';
import type { NameBook } from './binding.ts';
import { CHAT_CHANNEL, chatFrame, recipientsIn, type Spoken } from './chat-body.ts';
import type { SynapseClient } from './client.ts';
import { heardAs, type News, newsOf } from './news.ts';
import { awaitedBy, projectOf, waiterOf } from './recipients.ts';
import type { Fields, Speech } from './speech.ts';

/** Names in a roster; a frame has bounds. */
const ROSTER_MAX = 4_000;
/** Of more changes that are told together the last alone says who is here. */
const ROSTERS_AT_ONCE = 4;
/** To write to a socket takes a tenth of it: who comes and goes takes no more of the hub, however many they are. */
const GATHER_MS_PER_SOCKET = 0.1;

/** What only the first copy of a directed chat says, as it is stored. */
const RECIPIENTS = '"recipients":';

export interface BulletinOptions {
  readonly hub: Hub;
  readonly speech: Speech;
  readonly clients: ReadonlySet<SynapseClient>;
  readonly names: NameBook;
  readonly report: ReportFailure;
  readonly fanOut: FanOut;
}

export interface Bulletin {
  /** Sorted. */
  roster(without?: string): string[];
  joined(agent: string, isNew: boolean): void;
  /** Until it is on record that it left, what says that it is here was said before. */
  left(agent: string, recorded: Promise<unknown>): void;
  close(): void;
}

type EventOf<Type extends DurableEvent['type']> = Extract<DurableEvent, { type: Type }>;

export function openBulletin(options: BulletinOptions): Bulletin {
  const { hub, speech, clients, names, report, fanOut } = options;
  const online = new Set<string>();
  /** Those who left and of whom the record may say yet that they came: each with what ends that. */
  const leaving = new Map<string, Promise<unknown>>();

  function roster(without?: string): string[] {
    return [...new Set([...names.keys(), ...online])]
      .filter((name) => name !== without)
      .sort()
      .slice(0, ROSTER_MAX);
  }

  interface Told {
    /** By this whoever asked for it knows that it was told; null when nobody looks. */
    readonly heard: string | null;
    readonly text: string;
  }

  /** For everybody, of the batch that is being told: it goes before whatever goes to one alone. */
  let gathered: Told[] = [];
  /** Who did what is being told. */
  let doers: readonly string[] = [];

  function flush(): void {
    const told = gathered;
    gathered = [];
    if (told.length > 0) broadcastAll(told);
  }

  function broadcastAll(told: readonly Told[]): void {
    const frames = encodeFrames(told.map(({ text }) => text));
    fanOut.spoken(hub.space, doers, frames.length);
    for (const client of clients) {
      if (!client.isWelcome) continue;
      if (client.isBusy) for (const { heard } of told) if (heard !== null) client.heard.add(heard);
      client.peer.sendFrames(frames);
    }
  }

  function tell({ type, about, payload, fields }: News): void {
    gathered.push({ heard: heardAs(type, about), text: speech.say(type, 'all', payload, fields) });
  }

  interface Change {
    readonly event: 'joined' | 'left';
    readonly agent: string;
  }

  /** What else changed since one was told; null when none was in this turn. */
  let burst: Change[] | null = null;
  let gathering: NodeJS.Timeout | undefined;

  /**
   * The first is told at once, whatever follows until it has been written to all, and a while longer where
   * all are many, together: of a storm of connects each would else be a write to each [SY15].
   */
  function tellPresence(event: Change['event'], agent: string): void {
    if (burst !== null) {
      burst.push({ event, agent });
      return;
    }
    burst = [];
    tellChanges([{ event, agent }]);
    gather();
  }

  function gather(): void {
    const gatherMs = Math.floor(clients.size * GATHER_MS_PER_SOCKET);
    if (gatherMs === 0) fanOut.afterAll(tellBurst);
    else gathering = setTimeout(() => fanOut.afterAll(tellBurst), gatherMs);
  }

  function tellBurst(): void {
    const waiting = burst ?? [];
    burst = null;
    if (waiting.length === 0) return;
    burst = [];
    tellChanges(waiting);
    gather();
  }

  function tellChanges(changes: readonly Change[]): void {
    flush();
    const online_agents = roster();
    const type = 'presence_update';
    const last = changes.length - 1;
    broadcastAll(
      changes.map(({ event, agent }, n) => {
        const here =
          changes.length <= ROSTERS_AT_ONCE || n === last
            ? { online_agents }
            : { online_agents: [], truncated: true };
        const fields = { event, agent, ...here };
        return {
          heard: heardAs(type, agent),
          text: speech.say(type, 'all', `${agent} ${event}`, fields),
        };
      }),
    );
  }

  function onEvents(world: WorldView, first: number, events: readonly DurableEvent[]): void {
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as DurableEvent;
      if (event.type === 'presence.changed') onPresence(event.agent, isHere(event.state));
      else if (clients.size === 0) continue;
      else if (event.type === 'message.sent') onMessage(event, first + i);
      else if (event.type === 'wait.reserved') onTurn(event);
      else for (const one of newsOf(world, event)) tell(one);
    }
  }

  function onMessage(event: EventOf<'message.sent'>, position: number): void {
    if (event.held !== undefined) return;
    const { by, at, channel } = event;
    const spoken = () => ({ by, at, position, body: readJson(event.body) as unknown });
    if (channel === CHAT_CHANNEL) {
      gathered.push({ heard: null, text: speech.relay(chatFrame(spoken(), 'all')) });
      return;
    }
    const recipient = recipientOf(event);
    if (recipient === null) return;
    flush();
    for (const name of [recipient, waiterOf(recipient)]) {
      const client = names.get(name);
      if (client?.caller != null) show(client, chatFrame(spoken(), awaitedBy(recipient)));
    }
    names.get(recipient)?.mail.add(channel);
    if (event.body.includes(RECIPIENTS)) shareRoom(spoken(), recipient);
  }

  /** A directed chat of the door is heard by all who are in the room; those whom it means have it already [SY4]. */
  function shareRoom(spoken: Spoken, target: string): void {
    const meant = isFields(spoken.body) ? recipientsIn(spoken.body) : null;
    if (meant === null) return;
    const told = new Set(meant.flatMap((name) => [String(name), waiterOf(String(name))]));
    const frame = encodeFrames([speech.relay(chatFrame(spoken, target))]);
    fanOut.spoken(hub.space, [spoken.by], frame.length);
    for (const client of clients) {
      if (client.isWelcome && !told.has(client.name)) client.peer.sendFrames(frame);
    }
  }

  function show(client: SynapseClient, frame: Fields): void {
    client.peer.send(speech.relay(frame));
    // A waiter of one agent of a project (`syn arm`) listens for the project's name alone.
    const awaited = awaitedBy(client.name);
    const target = projectOf(awaited);
    if (awaited === client.name || target === awaited || target === frame.target) return;
    client.peer.send(speech.relay({ ...frame, target }));
  }

  /** What it waits for is kept for it now, and it is told [SY9]. */
  function onTurn({ agent, id, number, until }: EventOf<'wait.reserved'>): void {
    const client = names.get(agent);
    if (client?.caller == null || !client.waits.has(number)) return;
    flush();
    client.mail.add(toChannel(agent));
    const payload = `${id ?? 'what you wait for'} is free and kept for you; claim it`;
    client.peer.send(
      speech.say('wait_granted', agent, payload, {
        task_id: id ?? '',
        holder: '',
        wait: number,
        free: true,
        reserved_until: until / 1000,
      }),
    );
  }

  function onPresence(agent: string, isThere: boolean): void {
    if (leaving.has(agent)) {
      if (!isThere) leaving.delete(agent);
      return;
    }
    // Of one that has a socket here, the socket says more.
    if (isThere === online.has(agent) || (!isThere && names.has(agent))) return;
    if (isThere) online.add(agent);
    else online.delete(agent);
    if (!names.has(agent)) tellPresence(isThere ? 'joined' : 'left', agent);
  }

  const stopListening = hub.watch.events((world, first, events) => {
    try {
      // Where all are written to at once nobody asks who it was.
      if (clients.size > AT_ONCE)
        doers = events.flatMap((event) => ('by' in event ? event.by : []));
      onEvents(world, first, events);
    } catch (cause) {
      report('news could not be told at the Synapse door', cause);
    } finally {
      flush();
      doers = [];
    }
  });
  void hub
    .ask((world) => [...world.agents.values()].filter(({ presence }) => isHere(presence.state)))
    .then((agents) => {
      if (!isRefusal(agents)) for (const { name } of agents) online.add(name);
    });

  return {
    roster,
    joined(agent, isNew) {
      leaving.delete(agent);
      online.add(agent);
      if (isNew) tellPresence('joined', agent);
    },
    left(agent, recorded) {
      online.delete(agent);
      tellPresence('left', agent);
      leaving.set(agent, recorded);
      void recorded.then(() => {
        if (leaving.get(agent) === recorded) leaving.delete(agent);
      });
    },
    close() {
      clearTimeout(gathering);
      stopListening();
    },
  };
}

/** Whom a dm is for; null of what is none. */
function recipientOf({ by, channel }: EventOf<'message.sent'>): string | null {
  const parties = channel.startsWith('dm/') ? dmParties(channel) : null;
  if (parties === null) return null;
  return parties[0] === by ? parties[1] : parties[0];
}

function isHere(state: string): boolean {
  return state === 'online' || state === 'busy';
}
