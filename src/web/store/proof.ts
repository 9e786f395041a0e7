/**
 * That a person is there: a proof of the hub's, bound to this page's session. It is held in the memory of the
 * page and nowhere else, ends with the page or its quarter of an hour, and can be forgotten before.
 * Whoever needs one waits here until the person has proved it or thought better of it.
 */
import type { CallOutput, Client } from '../../client/index.ts';
import { type Cell, createCell } from './cell.ts';
import { addPasskey, proveByPasskey } from './passkey.ts';

export interface Proof {
  readonly name: string;
  readonly proof: string;
  /** Unix seconds. */
  readonly until: number;
  readonly isByPasskey: boolean;
}

export interface Prover {
  /** What holds now. */
  readonly known: Cell<Proof | null>;
  /** Whether somebody is asked to prove it, and who could be meant. */
  readonly asking: Cell<readonly string[] | null>;
  /** Null when the person thought better of it. `unknown`: nobody is known as a person here. */
  prove(): Promise<string | null | 'unknown'>;
  /** With a passphrase; throws what the hub refuses it with. */
  pass(name: string, passphrase: string): Promise<void>;
  /** With a passkey of this device; throws when the person turned away, or the hub refuses it. */
  touch(name: string): Promise<void>;
  /** Has this device make a passkey for who proved it with the passphrase. */
  addPasskey(): Promise<void>;
  cancel(): void;
  forget(): void;
}

/** A little less than it lasts, so that it holds when it arrives. */
const EARLY_S = 5;

export function createProver({ call }: Pick<Client, 'call'>): Prover {
  const known = createCell<Proof | null>(null);
  const asking = createCell<readonly string[] | null>(null);
  const waiting: ((proof: string | null) => void)[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function settle(proof: string | null): void {
    asking.set(null);
    for (const resolve of waiting.splice(0)) resolve(proof);
  }

  function hold(made: CallOutput<'people.prove'>, isByPasskey: boolean): void {
    const until = made.expires_at - EARLY_S;
    clearTimeout(timer);
    timer = setTimeout(() => known.set(null), until * 1_000 - Date.now());
    known.set({ name: made.name, proof: made.proof, until, isByPasskey });
    settle(made.proof);
  }

  return {
    known,
    asking,
    async prove() {
      const proof = known.get();
      if (proof !== null) return proof.proof;
      const [{ people }, { agent_id: me }] = await Promise.all([
        call('people.list', {}),
        call('hub.whoami', {}),
      ]);
      const names = people.map(({ name }) => name);
      if (names.length === 0) return 'unknown';
      const proved = new Promise<string | null>((resolve) => waiting.push(resolve));
      asking.set(names.includes(me) ? [me] : names);
      return proved;
    },
    async pass(name, passphrase) {
      const made = await call('people.prove', { name, passphrase });
      hold(made, false);
    },
    async touch(name) {
      hold(await proveByPasskey({ call }, name), true);
    },
    async addPasskey() {
      const proof = known.get();
      if (proof !== null) await addPasskey({ call }, proof.proof, labelOf(navigator.userAgent));
    },
    cancel: () => settle(null),
    forget() {
      clearTimeout(timer);
      known.set(null);
    },
  };
}

/** What to call this device in a list. */
function labelOf(userAgent: string): string {
  return /\b(iPhone|iPad|Android|Windows|Macintosh|Linux)\b/.exec(userAgent)?.[1] ?? 'a device';
}
