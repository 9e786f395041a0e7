/**
 * How a socket gets its name. The first frame of any type binds it to its `sender`; a secured
 * hub looks at the token first, in constant time, and keeps it nowhere [SY3]; a wrong one is
 * answered late and put on the record. The name of an agent with a token of its own, or that came
 * by another door, is not given away [SY10]. A name has one live socket: a second is turned away,
 * or takes over when it says so, also from another server's door [SQ19].
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isRefusal, type Refusal } from '../../../core/law/decider.ts';
import { AGENT_NAME_RULE, isAgentName } from '../../../core/law/principal.ts';
import type { Hub } from '../../../hub/hub.ts';
import { countConnection } from '../../desk/activity.ts';
import type { Caller } from '../../desk/caller.ts';
import type { Desk } from '../../desk/desk.ts';
import { DEFAULT_SPACE } from '../../desk/spaces.ts';
import type { SynapseClient } from './client.ts';
import { type Frame, own, textOf } from './frame.ts';
import { HUB_NAME, type Speech } from './speech.ts';

export type NameBook = Map<string, SynapseClient>;

export interface BindingOptions {
  readonly desk: Desk;
  readonly hub: Hub;
  readonly names: NameBook;
  readonly speech: Speech;
  readonly token: string | null;
  readonly cooldownMs: number;
  /** How long whoever showed a wrong token waits for the answer. */
  readonly wrongTokenMs: number;
  welcome(client: SynapseClient): void;
  onBound(client: SynapseClient, isNew: boolean): void;
}

export interface Binding {
  /** True when the socket is bound to the sender of the frame; else it has been told and closed. */
  bind(client: SynapseClient, frame: Frame): boolean | Promise<boolean>;
  /** Nobody here bears the name any more. */
  leave(name: string): void;
  /** Whoever bears the name, at the door of any server; null when nobody does [SQ25]. */
  callerOf(name: string): Promise<Caller | null>;
  close(): void;
}

export function createBinding(options: BindingOptions): Binding {
  const { desk, hub, names, speech, token, cooldownMs, wrongTokenMs } = options;
  const digest = token === null ? null : digestOf(token);
  const takenOverAt = new Map<string, number>();
  let anonymous = 0;

  /** A socket at the door of another server has the name. */
  function isElsewhere(name: string): boolean {
    return (hub.whispers?.others.holds(name, 'name') ?? 0) > 0;
  }

  function bear(name: string, client: SynapseClient): void {
    names.set(name, client);
    hub.whispers?.hold(name, 'name', 1);
  }

  function leave(name: string): void {
    names.delete(name);
    hub.whispers?.hold(name, 'name', 0);
  }

  function introduce(name: string, isVouchedFor: boolean): Promise<Caller | Refusal> {
    return desk.authenticate({
      token: null,
      agent: name,
      space: DEFAULT_SPACE,
      clientVersion: null,
      isOwnerSocket: false,
      wantsOwner: false,
      transport: 'http',
      connectionId: `synapse-${speech.hubId}-${name}`,
      isVouchedFor,
    });
  }

  async function callerOf(name: string): Promise<Caller | null> {
    const here = names.get(name);
    if (here !== undefined || hub.whispers === null) return here?.caller ?? null;
    // One that came to another server this moment is not heard of yet.
    if (!isElsewhere(name)) await hub.whispers.news(name);
    if (!isElsewhere(name)) return null;
    const caller = await introduce(name, true);
    return isRefusal(caller) ? null : caller;
  }

  function refuse(client: SynapseClient, type: string, code: number, payload: string): false {
    client.peer.send(speech.say(type, 'self', payload));
    client.peer.close(code, type);
    client.isEnded = true;
    return false;
  }

  function isLetIn(frame: Frame): boolean {
    const shown = own(frame, 'token');
    if (digest === null) return true;
    // A digest has one length whatever was shown, so comparing it tells nothing of the secret.
    return (
      timingSafeEqual(digest, digestOf(typeof shown === 'string' ? shown : '')) && shown !== ''
    );
  }

  function nextAnonymous(): string {
    while (names.has(`anon-${++anonymous}`) || isElsewhere(`anon-${anonymous}`));
    return `anon-${anonymous}`;
  }

  /** False: nobody bore the name. Null: it may not be taken now. */
  function takeName(client: SynapseClient, name: string, frame: Frame): boolean | null {
    const holder = names.get(name);
    if (holder === undefined && !isElsewhere(name)) {
      // Whoever came to another server this moment is not known here yet, and gives way all the same.
      if (own(frame, 'takeover') === true) hub.whispers?.takeName(name);
      bear(name, client);
      return false;
    }
    if (own(frame, 'takeover') !== true) {
      return refuse(client, 'name_conflict', 4009, `${name} is here already`) || null;
    }
    const now = performance.now();
    if (now - (takenOverAt.get(name) ?? Number.NEGATIVE_INFINITY) < cooldownMs) {
      client.peer.close(4014, 'takeover cooldown');
      client.isEnded = true;
      return null;
    }
    noteTakeover(name, now);
    hub.whispers?.takeName(name);
    bear(name, client);
    if (holder === undefined) return true;
    // What the name waits for goes with the name, and ends with its last socket.
    for (const wait of holder.waits) client.waits.add(wait);
    holder.waits.clear();
    holder.peer.close(4010, 'superseded');
    return true;
  }

  function noteTakeover(name: string, now: number): void {
    for (const [one, at] of takenOverAt) if (now - at >= cooldownMs) takenOverAt.delete(one);
    takenOverAt.set(name, now);
  }

  const stop = hub.whispers?.onNameTaken((name) => {
    noteTakeover(name, performance.now());
    const holder = names.get(name);
    if (holder === undefined) return;
    leave(name);
    // What it waits for goes on: the name is borne at another server.
    holder.waits.clear();
    holder.peer.close(4010, 'superseded');
  });

  /** Of a socket that has its name nothing is awaited: frames of a crowd come by here. */
  function bind(client: SynapseClient, frame: Frame): boolean | Promise<boolean> {
    const sender = textOf(frame, 'sender');
    if (client.caller === null) return giveName(client, frame, sender);
    if (sender === '' || sender === client.name) return true;
    const payload = `this socket is ${client.name}; connect again to be another`;
    return refuse(client, 'name_conflict', 4009, payload);
  }

  /** Of one that bore the name at another server the record tells: names of this door are of no other [SY10]. */
  async function inheritWaits(client: SynapseClient, name: string): Promise<void> {
    const found = await hub.ask(({ claims }) =>
      Array.from(claims.waitsByAgent.get(name) ?? [], (wait) => wait.number),
    );
    if (!isRefusal(found)) for (const wait of found) client.waits.add(wait);
  }

  async function giveName(client: SynapseClient, frame: Frame, sender: string): Promise<boolean> {
    const isVouchedFor = isLetIn(frame);
    const name = sender || nextAnonymous();
    if (isVouchedFor && (!isAgentName(name) || name === HUB_NAME)) {
      return refuse(client, 'name_conflict', 4009, NAME_RULE);
    }
    const caller = await introduce(name, isVouchedFor);
    if (!isVouchedFor) {
      // Guessing is slow, and each guess is on the record.
      await pause(wrongTokenMs, undefined, { signal: client.gone.signal }).catch(() => {});
      return refuse(client, 'auth_denied', 4010, 'this hub asks for its token');
    }
    if (client.isEnded) return false;
    if (isRefusal(caller)) {
      const isName = caller.refused === 'access.denied';
      const [type, code] = isName
        ? (['name_conflict', 4009] as const)
        : (['auth_denied', 4010] as const);
      return refuse(client, type, code, caller.message);
    }
    // One that left another server this moment is not heard of yet.
    if (isElsewhere(name) && own(frame, 'takeover') !== true) await hub.whispers?.news(name);
    if (client.isEnded) return false;
    const isHere = names.has(name);
    const isTakeover = takeName(client, name, frame);
    if (isTakeover === null) return false;
    client.name = name;
    client.caller = caller;
    client.boundAt = hub.stats.entries;
    client.countOut = countConnection(caller.activity, Date.now);
    if (!client.isWelcome) options.welcome(client);
    options.onBound(client, !isTakeover);
    if (isTakeover && !isHere) await inheritWaits(client, name);
    return !client.isEnded;
  }

  return { bind, leave, callerOf, close: () => stop?.() };
}

const NAME_RULE = `${AGENT_NAME_RULE}, and is not ${HUB_NAME}`;

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
