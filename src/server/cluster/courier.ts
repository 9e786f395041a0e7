/**
 * The courier between the servers of a space, on NATS: a request is one message, and so is a whisper to all. Each is
 * sealed; what does not open is not looked at, and what nobody vouches for is no answer [JN3].
 */
import { deserialize, serialize } from 'node:v8';
import { refuse } from '../../core/law/decider.ts';
import type { Command } from '../../core/law/world.ts';
import type { Courier, Reply, Unanswered } from '../../hub/forwarding.ts';
import type { Whisper } from '../../hub/whisper.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { streamWord } from '../../log/nats/streams.ts';
import { createAnswerReader, PARTS_MAX, writeAnswer } from './answer-parts.ts';
import {
  packCommands,
  plainCommands,
  readCommands,
  readReply,
  type Said,
  writeReply,
} from './command-pack.ts';
import type { Hellos } from './hello.ts';
import { openInbox } from './inbox.ts';
import { markOf, type Opened, SEAL_BYTES_MAX, type Seals } from './seal.ts';

export interface NatsCourier extends Courier {
  close(): void;
}

/** Room for what stands around the commands. */
const ENVELOPE_BYTES = 4_096 + SEAL_BYTES_MAX;
/** Of one message: whispers keep nobody's commands waiting. */
const WHISPER_BYTES_MAX = 256 * 1024;

interface Peer {
  /** It knows columns. */
  readonly packs: boolean;
  /** The start of the server that has the key that we share; null where it has none. */
  readonly keyed: Pick<Opened, 'from' | 'incarnation'> | null;
}

interface Answered {
  readonly reply: Reply;
  readonly isPacked: boolean;
}

export function openCourier(
  link: Link,
  place: NatsPlace,
  space: string,
  seals: Seals,
  hellos: Hellos,
  onTrouble: (what: string, cause: unknown) => void,
  /** So many commands came by another server, to be decided here. */
  onAsked: (from: string, count: number) => void,
): NatsCourier {
  const { connection } = link;
  const word = streamWord(space);
  const subjectOf = (server: string): string => `${place.prefix}.ask.${word}.${server}`;
  const whisperSubject = `${place.prefix}.whisper.${word}`;
  const listeners = new Set<(words: readonly Whisper[], from: string) => void>();

  const returns = new Set<() => void>();
  const inbox = openInbox(link);
  /** What those said that answered, by the lease that they opened, until one fails to. */
  const peers = new Map<string, Peer>();
  /** A request that nobody took is sent as it was: should somebody have taken it, the second is a repetition. */
  const sent = new WeakMap<
    readonly Command[],
    { readonly to: string; readonly sealed: Uint8Array }
  >();

  const whispers = connection.subscribe(whisperSubject, {
    callback(error, message) {
      if (error !== null || seals.isOwn(message.data)) return;
      const opened = seals.open({ purpose: 'whisper', space }, message.data);
      if (opened === null) return;
      const heard = seals.hear(opened);
      if (heard === 'unconfirmed') void meet(opened);
      if (heard === 'fresh') tell(deserialize(opened.bytes) as readonly Whisper[], opened);
    },
  });

  function tell(words: readonly Whisper[], { from, incarnation }: Opened): void {
    // A server that was started again is another: what the one before was told of is gone.
    for (const listener of listeners) listener(words, `${from} ${incarnation}`);
  }

  /** What one said before it was confirmed is not heard: whoever listens is told that it is there, and asks for it [SQ14]. */
  async function meet(opened: Opened): Promise<void> {
    const { from, incarnation, count } = opened;
    if (!(await hellos.confirm(from))) return;
    // Of the one that lives, and not of one before it, which somebody repeats.
    if (seals.replays.hear(from, incarnation, count) !== 'unconfirmed')
      tell([{ type: 'server.here' }], opened);
  }

  /** In halves where it is too large for one message; a word that is too large by itself is left out. */
  function whisper(words: readonly Whisper[]): void {
    if (connection.isClosed() || words.length === 0) return;
    const bytes = serialize(words);
    if (bytes.byteLength <= Math.min(WHISPER_BYTES_MAX, link.payloadMax - ENVELOPE_BYTES)) {
      connection.publish(whisperSubject, seals.seal({ purpose: 'whisper', space }, bytes));
    } else if (words.length > 1) {
      const half = words.length >> 1;
      whisper(words.slice(0, half));
      whisper(words.slice(half));
    }
  }

  /** What is in memory alone is left out where there is no room for it: it is whispered as well. */
  function* answerMessages(asked: Opened, { reply, isPacked }: Answered): Generator<Uint8Array> {
    const roomBytes = link.payloadMax - ENVELOPE_BYTES;
    const { mark, session } = asked;
    const told = { isPacked, keys: session !== null || seals.sessionWith(asked) !== null };
    const write = (said: Reply): Uint8Array[] | null =>
      writeAnswer(seals, space, mark, writeReply(said, told), roomBytes, session);
    let messages = write(reply);
    if (messages === null && 'passing' in reply) {
      messages = write({ ...reply, passing: [] });
      messages ??= write({ ...reply, passing: [], outcomes: reply.outcomes.map(unsaid) });
    }
    yield* messages ?? [];
  }

  function sealedAsk(to: string, commands: readonly Command[]): Uint8Array | null {
    const known = sent.get(commands);
    if (known?.to === to) return known.sealed;
    const peer = peers.get(to);
    const payload = peer?.packs ? packCommands(commands) : plainCommands(commands);
    // The log takes a batch in parts, a request is one piece.
    if (payload.byteLength > link.payloadMax - ENVELOPE_BYTES) return null;
    // Looked up each time: one that was started again has another key, and is known by then or answers that it has not this one.
    const keyed = peer?.keyed ?? null;
    const session = keyed === null ? null : seals.sessionWith(keyed);
    const sealed = seals.seal({ purpose: 'ask', space, to }, payload, session);
    sent.set(commands, { to, sealed });
    return sealed;
  }

  /** What was asked, when it may be done. One that is not known yet is asked who it is, and may then ask again. */
  async function answered(
    opened: Opened,
    answer: (commands: readonly Command[]) => Promise<Reply>,
  ): Promise<Answered | null> {
    const heard = seals.hear(opened);
    if (heard === 'fresh') {
      const { commands, isPacked } = readCommands(opened.bytes);
      onAsked(opened.from, commands.length);
      return { reply: await answer(commands), isPacked };
    }
    if (heard === 'repeated') return null;
    await hellos.confirm(opened.from);
    return { reply: { notMine: true }, isPacked: false };
  }

  /** One that uses a key of before this server was started is told to ask again, as one that is not known yet. */
  async function answerStale(data: Uint8Array, respond: (said: Uint8Array) => void): Promise<void> {
    const asked = seals.keyedBy(data, space);
    if (asked === null || !(await hellos.confirm(asked.from))) return;
    const told = writeReply({ notMine: true }, { isPacked: false, keys: false });
    const roomBytes = link.payloadMax - ENVELOPE_BYTES;
    for (const said of writeAnswer(seals, space, asked.mark, told, roomBytes) ?? []) respond(said);
  }

  function peerOf({ packs, keys, opened }: Said & { readonly opened: Opened }): Peer {
    const { from, incarnation } = opened;
    return { packs, keyed: keys ? { from, incarnation } : null };
  }

  return {
    async ask(to, commands): Promise<Reply | Unanswered> {
      const sealed = sealedAsk(to, commands);
      if (sealed === null) return 'too large';
      const read = createAnswerReader(seals, space, markOf(sealed));
      const said = await inbox.request(subjectOf(to), sealed, (data) => {
        const opened = read(data);
        return opened && { ...readReply(opened.bytes), opened };
      });
      if (said !== 'nobody') sent.delete(commands);
      if (typeof said === 'string') {
        peers.delete(to);
        return said;
      }
      if ('outcomes' in said.reply) peers.set(to, peerOf(said));
      else peers.delete(to);
      return said.reply;
    },
    attend(as, answer) {
      const asks = connection.subscribe(subjectOf(as), {
        callback(error, message) {
          if (error !== null) return;
          const opened = seals.open({ purpose: 'ask', space, to: as }, message.data);
          if (opened === null) {
            void answerStale(message.data, (said) => message.respond(said));
            return;
          }
          answered(opened, answer)
            .then((one) => {
              if (one === null) return;
              for (const said of answerMessages(opened, one)) message.respond(said);
            })
            // Who asked hears nothing, and takes it for unknown: it may well have been done.
            .catch((cause) => onTrouble(`space ${space}: a forwarded command failed`, cause));
        },
      });
      return () => asks.unsubscribe();
    },
    whisper,
    onWhisper(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onReturn(listener) {
      const stop = link.onReturn(listener);
      returns.add(stop);
      return () => {
        stop();
        returns.delete(stop);
      };
    },
    close() {
      for (const stop of returns) stop();
      whispers.unsubscribe();
      inbox.close();
      listeners.clear();
    },
  };
}

/** Of an answer for which there is no room: what was asked is done. */
function unsaid(): unknown {
  return refuse(
    'store.unknown',
    `this was decided, and what is answered to it is larger than ${PARTS_MAX} messages of NATS: look what became of it, or raise max_payload there`,
  );
}
