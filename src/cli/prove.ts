/**
 * Proving to be a person, at a terminal and nowhere else: an argument, a variable or a pipe is something a
 * program can fill [GT12]. The proof stays in this process and dies with it.
 */
import type { Person } from '../bus/programs/registry-setup.ts';
import { SynodError } from '../client/error.ts';
import { openPerson } from './ask-person.ts';
import type { Call } from './context.ts';
import { type CliError, fail } from './failure.ts';

const TRIES_MAX = 3;

export interface Prover {
  /** A proof that holds now; asks for the passphrase when there is none, or it ran out. */
  prove(): Promise<string>;
}

export interface ProverOptions {
  readonly call: Call;
  readonly person: Person;
  /** Who; null: the only one there is, or whoever answers. */
  readonly name: string | null;
}

/** Runs with a person at the terminal; where nobody can sit it says what to do. */
export async function withPerson<T>(run: (person: Person) => Promise<T>): Promise<T> {
  const person = openPerson();
  if (person === null) throw noTerminal();
  try {
    return await run(person);
  } finally {
    person.close();
  }
}

export function createProver({ call, person, name }: ProverOptions): Prover {
  let known: { readonly proof: string; readonly until: number } | null = null;
  return {
    async prove() {
      if (known !== null && known.until > Date.now()) return known.proof;
      const who = name ?? (await choose(call, person));
      for (let tries = 1; ; tries++) {
        const passphrase = await person.askUnseen(`Passphrase of ${who}: `);
        if (passphrase === null || passphrase === '') throw fail('cli.usage', 'nothing was typed');
        try {
          const made = await call('people.prove', { name: who, passphrase });
          // A little less than it lasts, so that it holds when it arrives.
          known = { proof: made.proof, until: made.expires_at * 1000 - 5_000 };
          return made.proof;
        } catch (error) {
          const waitMs = error instanceof SynodError ? waitOf(error) : null;
          if (waitMs === null || tries >= TRIES_MAX) throw error;
          person.say((error as Error).message);
          await new Promise((resolve) => setTimeout(resolve, waitMs));
        }
      }
    },
  };
}

/** A new one, typed twice. */
export async function askNewPassphrase(person: Person, name: string): Promise<string> {
  const first = await person.askUnseen(`A passphrase for ${name}, 8 characters or more: `);
  if (first === null) throw fail('cli.usage', 'nothing was typed');
  if ((await person.askUnseen('The same again: ')) !== first) {
    throw fail('cli.usage', 'the two are not the same; nobody was added');
  }
  return first;
}

async function choose(call: Call, person: Person): Promise<string> {
  const { people } = await call('people.list', {});
  const [only, another] = people;
  if (only === undefined) {
    throw fail('cli.usage', 'nobody is known as a person here, and only a person decides', {
      hint: 'make yourself known: synod person add NAME',
    });
  }
  if (another === undefined) return only.name;
  const said = await person.ask(`Who are you (${people.map((one) => one.name).join(', ')})? `);
  if (said === null || said === '') throw fail('cli.usage', 'nothing was typed');
  return said;
}

/** How long to wait before another try; null when it was no wrong passphrase. */
function waitOf(error: SynodError): number | null {
  if (error.code !== 'proof.wrong' && error.code !== 'rate.limited') return null;
  return Math.max(0, (error.retryAt ?? 0) - Date.now()) + 50;
}

function noTerminal(): CliError {
  return fail('cli.no-terminal', 'this is typed by a person, and nobody sits at a terminal here', {
    hint: 'run it in a terminal, without a pipe',
  });
}
