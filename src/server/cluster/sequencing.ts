/**
 * The sequencing of a space over NATS: commands go to who sequences it, as a request, and what only memory knows goes to
 * everybody. A request that nobody is there for was not decided; one that was not answered may have been [SQ3].
 */
import { setTimeout as wait } from 'node:timers/promises';
// Commands hold sets and maps, which JSON does not know, and bodies that could pass for any mark of ours.
import { deserialize, serialize } from 'node:v8';
import type { Command, EphemeralEvent } from '../../core/law/world.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Forwarded, Sequencing } from '../../hub/sequencing.ts';
import { streamWord } from '../../log/nats/generation.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import type { Office } from './office.ts';

export interface SpaceSequencing extends Sequencing {
  /** Decides what other servers forward, while this one sequences. */
  serve(hub: Pick<Hub, 'submit' | 'stamp' | 'stats'>): void;
  close(): void;
}

export interface SequencingOptions {
  readonly link: Link;
  readonly place: NatsPlace;
  readonly space: string;
  /** Of this server. */
  readonly name: string;
  readonly office: Office;
  onTrouble(what: string, cause: unknown): void;
}

/** As long as a command may take to be stored. */
const ANSWER_MS = 12_000;
/** How long commands wait for somebody to sequence the space before they are refused. */
const NOBODY_MS = 6_000;
const AGAIN_MS = 100;
/** Room for what stands around the commands. */
const ENVELOPE_BYTES = 4_096;

interface Request {
  readonly commands: readonly Command[];
}

type Reply =
  | { readonly outcomes: readonly unknown[]; readonly length: number }
  /** Not the sequencer any more. */
  | { readonly notMine: true };

export function createSequencing(options: SequencingOptions): SpaceSequencing {
  const { link, place, space, name, office, onTrouble } = options;
  const { connection } = link;
  const word = streamWord(space);
  const askSubject = `${place.prefix}.ask.${word}`;
  const whisperSubject = `${place.prefix}.whisper.${word}`;
  const listeners = new Set<(events: readonly EphemeralEvent[]) => void>();
  const id = Math.random().toString(36).slice(2);

  const whispers = connection.subscribe(whisperSubject, {
    callback(error, message) {
      if (error !== null) return;
      const { from, events } = deserialize(message.data) as {
        from: string;
        events: EphemeralEvent[];
      };
      if (from === id) return;
      for (const listener of listeners) listener(events);
    },
  });
  let asks: { unsubscribe(): void } | null = null;
  let stopServing: (() => void) | null = null;

  async function decide(
    hub: Pick<Hub, 'submit' | 'stamp' | 'stats'>,
    request: Request,
  ): Promise<Reply> {
    if (!office.isMine) return { notMine: true };
    const outcomes = await Promise.all(
      // By our clock: what another machine takes for now is not compared with what is stored.
      request.commands.map((command) => hub.submit({ ...command, at: hub.stamp() })),
    );
    return { outcomes, length: hub.stats.entries };
  }

  /** Whoever was asked and is then replaced will not answer any more. */
  async function answerTo(payload: Uint8Array): Promise<Reply | 'unknown'> {
    const asked = office.holder;
    let stop = (): void => {};
    const replaced = new Promise<'unknown'>((resolve) => {
      stop = office.onChange(() => office.holder !== asked && resolve('unknown'));
    });
    try {
      const request = connection.request(askSubject, payload, { timeout: ANSWER_MS });
      request.catch(() => {});
      const answer = await Promise.race([request, replaced]);
      return answer === 'unknown' ? answer : (deserialize(answer.data) as Reply);
    } finally {
      stop();
    }
  }

  return {
    get standing() {
      return { server: name, sequencer: office.holder, changes: office.changes };
    },
    get isElsewhere() {
      return !office.isMine;
    },
    onChange: office.onChange,
    whisper(events) {
      if (connection.isClosed()) return;
      connection.publish(whisperSubject, serialize({ from: id, events }));
    },
    onWhisper(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async forward(commands): Promise<Forwarded> {
      const payload = serialize({ commands } satisfies Request);
      // The log takes a batch in parts, a request is one piece.
      if (payload.byteLength > link.payloadMax - ENVELOPE_BYTES) return 'here';
      const stopAt = performance.now() + NOBODY_MS;
      for (;;) {
        if (office.isMine) return 'here';
        try {
          const reply = await answerTo(payload);
          if (reply === 'unknown' || 'outcomes' in reply) return reply;
        } catch (cause) {
          if (!isNobody(cause)) return 'unknown';
        }
        if (performance.now() > stopAt) return 'nobody';
        await wait(AGAIN_MS);
      }
    },
    serve(hub) {
      const attend = (): void => {
        if (office.isMine && asks === null) {
          asks = connection.subscribe(askSubject, {
            callback(error, message) {
              if (error !== null) return;
              decide(hub, deserialize(message.data) as Request).then(
                (reply) => message.respond(serialize(reply)),
                (cause) => onTrouble(`space ${space}: a forwarded command failed`, cause),
              );
            },
          });
        } else if (!office.isMine && asks !== null) {
          asks.unsubscribe();
          asks = null;
        }
      };
      attend();
      stopServing = office.onChange(attend);
    },
    close() {
      stopServing?.();
      asks?.unsubscribe();
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
