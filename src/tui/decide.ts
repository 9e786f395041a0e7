/**
 * What a person does about the docket from the chat: approve, deny, answer, close. A gate takes a
 * passphrase; it is typed unseen, is in no history, and its proof stays in this process [GT12].
 */
import type { Client } from '../client/index.ts';
import type { Store } from './store.ts';

export interface Decider {
  decide(id: string, decision: 'approve' | 'deny', reason: string | null): Promise<string>;
  answer(item: string, words: string): Promise<string>;
  close(item: string, note: string | null): Promise<string>;
  /** Takes what was typed unseen. */
  typed(text: string): void;
  /** Gives up what was asked. */
  cancel(): void;
}

interface Proof {
  readonly proof: string;
  readonly until: number;
}

export function createDecider(client: Client, store: Store): Decider {
  let known: Proof | null = null;
  let waiting: ((text: string | null) => void) | null = null;

  function askUnseen(question: string): Promise<string | null> {
    waiting?.(null);
    store.dispatch({ type: 'asked', question });
    return new Promise((resolve) => {
      waiting = resolve;
    });
  }

  function settle(text: string | null): void {
    const resolve = waiting;
    waiting = null;
    store.dispatch({ type: 'asked', question: null });
    resolve?.(text);
  }

  /** Null when it was given up. */
  async function prove(): Promise<string | null> {
    if (known !== null && known.until > Date.now()) return known.proof;
    const { people } = await client.call('people.list', {});
    const me = store.state().me.agent_id;
    const [only, another] = people;
    if (only === undefined) {
      throw new Error(
        'nobody is known as a person here, and only a person decides: synod person add NAME',
      );
    }
    const mine =
      people.find(({ name }) => name === me) ?? (another === undefined ? only : undefined);
    if (mine === undefined) {
      const names = people.map(({ name }) => name).join(', ');
      throw new Error(`say who you are: synod chat --as NAME, one of ${names}`);
    }
    const passphrase = await askUnseen(`Passphrase of ${mine.name}`);
    if (passphrase === null || passphrase === '') return null;
    const made = await client.call('people.prove', { name: mine.name, passphrase });
    // A little less than it lasts, so that it holds when it arrives.
    known = { proof: made.proof, until: made.expires_at * 1000 - 5_000 };
    return made.proof;
  }

  async function find(id: string): Promise<{ kind: string; subject: string }> {
    if (!/^d\d+$/.test(id)) return { kind: /^m\d+$/.test(id) ? 'held' : 'gate', subject: id };
    const { item } = await client.call('docket.get', { item_id: id });
    const some = item.subjects.filter(({ kind }) => kind === 'gate' || kind === 'held');
    const [only, another] = some;
    if (only !== undefined && another === undefined) return only;
    const which = some.map(({ subject }) => subject).join(', ');
    throw new Error(
      only === undefined
        ? `${id} has nothing to approve or deny; see /docket`
        : `say which: ${which}`,
    );
  }

  return {
    async decide(id, decision, reason) {
      const { kind, subject } = await find(id);
      if (kind === 'held') {
        const word = decision === 'approve' ? 'release' : 'refuse';
        await client.call('held.review', { message_id: subject, decision: word, reason });
        return `${subject} is ${word}d`;
      }
      if (decision === 'deny' && reason === null)
        throw new Error('a denial says why: /deny ID WHY');
      const proof = await prove();
      if (proof === null) return 'nothing was decided';
      const { payload_hash } = await client.call('gates.get', { gate_id: subject });
      const gate = await client.call('gates.decide', {
        ...{ gate_id: subject, decision, reason, proof, payload_hash },
      });
      return `${subject} is ${gate.state}${gate.state === 'pending' ? ': one more person is asked' : ''}`;
    },
    async answer(item_id, words) {
      const [, subject, text] = /^(q\d+)\s+([\s\S]+)$/.exec(words) ?? [];
      const about = subject === undefined ? {} : { subject };
      const note = text ?? words;
      const closed = await client.call('docket.close', {
        item_id,
        ...about,
        outcome: 'answered',
        note,
      });
      return `${closed.item.agent_id} is told`;
    },
    async close(item_id, note) {
      await client.call('docket.close', { item_id, outcome: 'done', note });
      return `${item_id} is closed`;
    },
    typed: settle,
    cancel: () => settle(null),
  };
}
