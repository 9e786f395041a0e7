/** The courier between the servers of a space, on NATS: a request is one message, and so is a whisper to all. */

// Commands hold sets and maps, which JSON does not know, and bodies that could pass for any mark of ours.
import { deserialize, serialize } from 'node:v8';
import type { Command } from '../../core/law/world.ts';
import type { Courier, Reply } from '../../hub/forwarding.ts';
import type { Whisper } from '../../hub/whisper.ts';
import { streamWord } from '../../log/nats/generation.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';

export interface NatsCourier extends Courier {
  close(): void;
}

/** As long as a command may take to be stored. */
const ANSWER_MS = 12_000;
/** Room for what stands around the commands. */
const ENVELOPE_BYTES = 4_096;
/** Of one message: whispers keep nobody's commands waiting. */
const WHISPER_BYTES_MAX = 256 * 1024;

interface Whispered {
  readonly from: string;
  readonly words: readonly Whisper[];
}

export function openCourier(
  link: Link,
  place: NatsPlace,
  space: string,
  /** Of the lease of this server. */
  id: string,
  onTrouble: (what: string, cause: unknown) => void,
): NatsCourier {
  const { connection } = link;
  const word = streamWord(space);
  const subjectOf = (server: string): string => `${place.prefix}.ask.${word}.${server}`;
  const whisperSubject = `${place.prefix}.whisper.${word}`;
  const listeners = new Set<(words: readonly Whisper[], from: string) => void>();

  const whispers = connection.subscribe(whisperSubject, {
    callback(error, message) {
      if (error !== null) return;
      const { from, words } = deserialize(message.data) as Whispered;
      if (from === id) return;
      for (const listener of listeners) listener(words, from);
    },
  });

  /** In halves where it is too large for one message; a word that is too large by itself is left out. */
  function whisper(words: readonly Whisper[]): void {
    if (connection.isClosed() || words.length === 0) return;
    const bytes = serialize({ from: id, words } satisfies Whispered);
    if (bytes.byteLength <= Math.min(WHISPER_BYTES_MAX, link.payloadMax - ENVELOPE_BYTES)) {
      connection.publish(whisperSubject, bytes);
    } else if (words.length > 1) {
      const half = words.length >> 1;
      whisper(words.slice(0, half));
      whisper(words.slice(half));
    }
  }

  return {
    async ask(to, commands) {
      const payload = serialize(commands);
      // The log takes a batch in parts, a request is one piece.
      if (payload.byteLength > link.payloadMax - ENVELOPE_BYTES) return 'too large';
      try {
        const answer = await connection.request(subjectOf(to), payload, { timeout: ANSWER_MS });
        return deserialize(answer.data) as Reply;
      } catch (cause) {
        return isNobody(cause) ? 'nobody' : 'unknown';
      }
    },
    attend(as, answer) {
      const asks = connection.subscribe(subjectOf(as), {
        callback(error, message) {
          if (error !== null) return;
          answer(deserialize(message.data) as readonly Command[]).then(
            (reply) => message.respond(serialize(reply)),
            (cause) => onTrouble(`space ${space}: a forwarded command failed`, cause),
          );
        },
      });
      return () => asks.unsubscribe();
    },
    whisper,
    onWhisper(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      whispers.unsubscribe();
      listeners.clear();
    },
  };
}

/** Nobody was there to take it, so it was not decided. */
function isNobody(cause: unknown): boolean {
  const name = (cause as Error | null)?.name;
  const inner = ((cause as Error | null)?.cause as Error | undefined)?.name;
  return name === 'NoRespondersError' || inner === 'NoRespondersError';
}
