/**
 * Commands on their way to who sequences, and what they came to on their way back. Nearly all are plain sends by a few
 * senders on a few channels, so these go in columns: each sender and channel once, all bodies as one text, what was answered
 * as numbers. Whatever else there is goes as it is. Both keep their order. A server from before knows no columns: it is asked
 * and answered without, and who knows them says so in its answer, so that servers can be upgraded one by one [SQ20].
 */

// Commands hold sets and maps, which JSON does not know, and bodies that could pass for any mark of ours.
import { deserialize, serialize } from 'node:v8';
import { inOwnWords, type Principal } from '../../core/law/principal.ts';
import type { Command } from '../../core/law/world.ts';
import type { SendMessage, SentAnswer } from '../../core/talk/message.ts';
import type { Reply } from '../../hub/forwarding.ts';

interface PackedCommands {
  readonly count: number;
  readonly senders: readonly Principal[];
  readonly channels: readonly string[];
  /** Of each send: its place, its sender, its channel, and how many characters its body has. */
  readonly sends: Uint32Array;
  readonly bodies: string;
  readonly keys: readonly (string | null)[] | null;
  /** Each with its place before it. */
  readonly rest: readonly (number | Command)[];
}

const SEND_COLUMNS = 4;
/** What every send has, whoever makes it; one with more is none of the plain. */
const SEND_FIELDS = 12;

export function packCommands(commands: readonly Command[]): Uint8Array {
  const senders = new Map<Principal, number>();
  const channels = new Map<string, number>();
  const sends = new Uint32Array(commands.length * SEND_COLUMNS);
  const bodies: string[] = [];
  const keys: (string | null)[] = [];
  const rest: (number | Command)[] = [];
  let hasKeys = false;
  let at = 0;
  for (let i = 0; i < commands.length; i++) {
    const command = commands[i] as Command;
    if (!isPlainSend(command)) {
      rest.push(i, command);
      continue;
    }
    sends[at++] = i;
    sends[at++] = placeIn(senders, command.by);
    sends[at++] = placeIn(channels, command.channel);
    sends[at++] = command.body.length;
    bodies.push(command.body);
    keys.push(command.key);
    if (command.key !== null) hasKeys = true;
  }
  const packed: PackedCommands = {
    ...{ count: commands.length, senders: [...senders.keys()], channels: [...channels.keys()] },
    ...{ sends: sends.slice(0, at), bodies: bodies.join(''), keys: hasKeys ? keys : null, rest },
  };
  return serialize(packed);
}

/** As every server reads them. */
export function plainCommands(commands: readonly Command[]): Uint8Array {
  return serialize(commands);
}

export interface Asked {
  readonly commands: readonly Command[];
  /** Who asked knows columns. */
  readonly isPacked: boolean;
}

export function readCommands(bytes: Uint8Array): Asked {
  const read = deserialize(bytes) as PackedCommands | readonly Command[];
  return 'sends' in read
    ? { commands: unpackCommands(read), isPacked: true }
    : { commands: read.map(said), isPacked: false };
}

/** Each is stamped anew by who decides it: when it was asked elsewhere is not told. */
function unpackCommands(packed: PackedCommands): readonly Command[] {
  const { count, channels, sends, bodies, keys, rest } = packed;
  const senders = packed.senders.map(inOwnWords);
  const commands = new Array<Command>(count);
  for (let i = 0; i < rest.length; i += 2)
    commands[rest[i] as number] = said(rest[i + 1] as Command);
  let from = 0;
  for (let at = 0, n = 0; at < sends.length; at += SEND_COLUMNS, n++) {
    const to = from + (sends[at + 3] as number);
    commands[sends[at] as number] = {
      type: 'message.send',
      by: senders[sends[at + 1] as number] as Principal,
      at: 0,
      channel: channels[sends[at + 2] as number] as string,
      body: bodies.slice(from, to),
      correlationId: null,
      replyTo: null,
      key: keys === null ? null : (keys[n] as string | null),
      ttlMs: null,
      schemaVersion: 0,
      asks: null,
      tier2: null,
    };
    from = to;
  }
  return commands;
}

function said(command: Command): Command {
  return { ...command, by: inOwnWords(command.by) };
}

function isPlainSend(command: Command): command is SendMessage {
  if (command.type !== 'message.send') return false;
  const { correlationId, replyTo, ttlMs, schemaVersion, asks, tier2 } = command;
  if (correlationId !== null || replyTo !== null || ttlMs !== null) return false;
  if (schemaVersion !== 0 || asks !== null || tier2 !== null) return false;
  let fields = 0;
  for (const _ in command) fields++;
  return fields === SEND_FIELDS;
}

function placeIn<K>(places: Map<K, number>, key: K): number {
  const known = places.get(key);
  if (known !== undefined) return known;
  const place = places.size;
  places.set(key, place);
  return place;
}

interface PackedOutcomes {
  readonly count: number;
  /** Of each send that was stored and is no repetition: its place, and what it is answered. */
  readonly sent: Float64Array;
  /** Each with its place before it. */
  readonly rest: readonly unknown[];
}

type PackedReply = Omit<Extract<Reply, { outcomes: unknown }>, 'outcomes'> & {
  readonly outcomes: PackedOutcomes;
};

const SENT_COLUMNS = 6;
const SENT_FIELDS = 5;

/** What who answers knows of who asked, said along with an answer; a server of before passes it over. */
export interface Told {
  /** Who asked knows columns. */
  readonly isPacked: boolean;
  /** The key that the two share is known to who answers. */
  readonly keys: boolean;
}

export function writeReply(reply: Reply, { isPacked, keys }: Told): Uint8Array {
  if (!('outcomes' in reply)) return serialize(reply);
  if (!isPacked) return serialize({ ...reply, packs: true, keys });
  return serialize({ ...reply, outcomes: packOutcomes(reply.outcomes), keys });
}

export interface Said {
  readonly reply: Reply;
  /** Who answered knows columns. */
  readonly packs: boolean;
  /** And has the key that it shares with us. */
  readonly keys: boolean;
}

interface Flags {
  readonly packs?: true;
  readonly keys?: boolean;
}

export function readReply(bytes: Uint8Array): Said {
  const read = deserialize(bytes) as (PackedReply | Reply) & Flags;
  if (!('outcomes' in read)) return { reply: read, packs: false, keys: false };
  const { packs = false, keys = false, outcomes, ...rest } = read;
  if ('sent' in outcomes)
    return { reply: { ...rest, outcomes: unpackOutcomes(outcomes) }, packs: true, keys };
  return { reply: { ...rest, outcomes }, packs, keys };
}

function packOutcomes(outcomes: readonly unknown[]): PackedOutcomes {
  const sent = new Float64Array(outcomes.length * SENT_COLUMNS);
  const rest: unknown[] = [];
  let to = 0;
  for (let i = 0; i < outcomes.length; i++) {
    const outcome = outcomes[i];
    if (!isPlainSent(outcome)) {
      rest.push(i, outcome);
      continue;
    }
    sent[to++] = i;
    sent[to++] = outcome.position;
    sent[to++] = outcome.seq;
    sent[to++] = outcome.at;
    sent[to++] = outcome.depth;
    sent[to++] = outcome.limit;
  }
  return { count: outcomes.length, sent: sent.slice(0, to), rest };
}

function unpackOutcomes({ count, sent, rest }: PackedOutcomes): readonly unknown[] {
  const outcomes = new Array<unknown>(count);
  for (let i = 0; i < rest.length; i += 2) outcomes[rest[i] as number] = rest[i + 1];
  for (let from = 0; from < sent.length; from += SENT_COLUMNS) {
    const answer: SentAnswer = {
      position: sent[from + 1] as number,
      seq: sent[from + 2] as number,
      at: sent[from + 3] as number,
      depth: sent[from + 4] as number,
      limit: sent[from + 5] as number,
    };
    outcomes[sent[from] as number] = answer;
  }
  return outcomes;
}

function isPlainSent(outcome: unknown): outcome is SentAnswer {
  if (typeof outcome !== 'object' || outcome === null) return false;
  const { position, seq, at, depth, limit } = outcome as Partial<SentAnswer>;
  if (typeof position !== 'number' || typeof seq !== 'number' || typeof at !== 'number')
    return false;
  if (typeof depth !== 'number' || typeof limit !== 'number') return false;
  let fields = 0;
  for (const _ in outcome) fields++;
  return fields === SENT_FIELDS;
}
