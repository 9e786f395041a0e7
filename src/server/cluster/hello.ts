/**
 * Which incarnation of a server lives: whoever wants to know sends it a challenge, and its answer is signed with that in
 * it. Servers ask one another when one starts, so that what it says first is heard, and else when they hear one that
 * they do not know [JN4].
 */
import { randomBytes } from 'node:crypto';
import type { Link } from '../../log/nats/link.ts';
import { nameWord, type Registry } from './registry.ts';
import type { Opened, Seals } from './seal.ts';

export interface Hellos {
  /** Asks the server which incarnation of it lives; false when none answers. */
  confirm(name: string): Promise<boolean>;
  close(): void;
}

const CHALLENGE_BYTES = 32;
const ANSWER_MS = 2_000;
/** A signature takes time: whoever asks for more of them in a second is not answered. */
const ANSWERS_PER_SECOND = 200;
const NOTHING = new Uint8Array();

/** Whether a server with this key, under this name, is running already. */
export async function isAlive(link: Link, prefix: string, seals: Seals): Promise<boolean> {
  return (await challenge(link, prefix, seals, seals.name)) !== null;
}

export function openHellos(link: Link, prefix: string, seals: Seals, registry: Registry): Hellos {
  const { connection } = link;
  const asking = new Map<string, Promise<boolean>>();
  let answers = 0;
  let countedFrom = performance.now();

  function mayAnswer(): boolean {
    const now = performance.now();
    if (now - countedFrom > 1_000) {
      countedFrom = now;
      answers = 0;
    }
    return ++answers <= ANSWERS_PER_SECOND;
  }

  const challenges = connection.subscribe(`${prefix}.hello.${nameWord(seals.name)}`, {
    callback(error, message) {
      if (error !== null || message.data.byteLength !== CHALLENGE_BYTES || !mayAnswer()) return;
      const sealed = { purpose: 'hello', space: null, to: message.data } as const;
      message.respond(seals.seal(sealed, seals.half));
    },
  });
  const announcements = connection.subscribe(`${prefix}.hello`, {
    callback(error, message) {
      if (error !== null || seals.isOwn(message.data)) return;
      const opened = seals.open({ purpose: 'hello', space: null }, message.data);
      if (opened !== null && seals.hear(opened) === 'unconfirmed') void confirm(opened.from);
    },
  });

  async function ask(name: string): Promise<boolean> {
    const answer = await challenge(link, prefix, seals, name);
    if (answer === null) return false;
    seals.meet(answer);
    return true;
  }

  function confirm(name: string): Promise<boolean> {
    const known = asking.get(name);
    if (known !== undefined) return known;
    const asked = ask(name).finally(() => asking.delete(name));
    asking.set(name, asked);
    return asked;
  }

  connection.publish(`${prefix}.hello`, seals.seal({ purpose: 'hello', space: null }, NOTHING));
  for (const { name, revoked } of registry.servers.values()) {
    if (name !== seals.name && revoked === null) void confirm(name);
  }

  return {
    confirm,
    close() {
      challenges.unsubscribe();
      announcements.unsubscribe();
    },
  };
}

/** Null when nobody answers, or somebody who may not. */
async function challenge(
  { connection }: Link,
  prefix: string,
  seals: Seals,
  name: string,
): Promise<Opened | null> {
  const nonce = randomBytes(CHALLENGE_BYTES);
  try {
    const subject = `${prefix}.hello.${nameWord(name)}`;
    const { data } = await connection.request(subject, nonce, { timeout: ANSWER_MS });
    const opened = seals.open({ purpose: 'hello', space: null, to: nonce }, data);
    return opened?.from === name ? opened : null;
  } catch {
    // Nobody is there, or not now.
    return null;
  }
}
