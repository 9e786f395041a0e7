/** What a person does about an item, each as one function: it asks for a proof where one is needed, and says what came of it. */
import { useMemo } from 'react';
import { useStore } from '../../store/use-store.ts';
import { type Gate, type Item, isTurn, type Subject } from './kinds.ts';

export interface Decide {
  gate(seen: Gate, decision: 'approve' | 'deny', reason: string | null): Promise<boolean>;
  held(subject: Subject, decision: 'release' | 'refuse', reason: string | null): Promise<boolean>;
  answer(item: Item, subject: Subject, note: string): Promise<boolean>;
  /** A parked or dead agent goes on, a dead turn is tried again. */
  goOn(subject: Subject): Promise<boolean>;
  take(item: Item, force: boolean): Promise<boolean>;
  close(item: Item, subject: Subject | null, outcome: 'done' | 'dismissed'): Promise<boolean>;
}

export function useDecide(): Decide {
  const { act, prover, say, complain } = useStore();
  return useMemo(() => {
    const prove = async (): Promise<string | null | undefined> => {
      try {
        const proof = await prover.prove();
        // Where no person is known the hub says what to do, unless it was told that none is needed.
        return proof === 'unknown' ? undefined : proof;
      } catch (error) {
        complain(error);
        return null;
      }
    };
    return {
      async gate({ gate_id, payload_hash }, decision, reason) {
        const proof = await prove();
        if (proof === null) return false;
        const gate = await act('gates.decide', {
          ...{ gate_id, decision, reason, payload_hash },
          ...(proof !== undefined && { proof }),
        });
        if (gate === null) return false;
        const rest = gate.by.count - gate.approvals.length;
        say(
          gate.state === 'pending'
            ? `${gate_id} is approved by you; ${rest} more ${rest === 1 ? 'person is' : 'people are'} asked`
            : `${gate_id} is ${decision === 'deny' ? 'denied' : 'approved'}; ${gate.asker} is told`,
        );
        return true;
      },
      async held({ subject }, decision, reason) {
        const done = await act('held.review', { message_id: subject, decision, reason });
        if (done === null) return false;
        say(
          decision === 'release'
            ? `${subject} is released to its readers`
            : `${subject} is refused; its sender is told`,
        );
        return true;
      },
      async answer({ item_id }, { subject }, note) {
        const done = await act('docket.close', {
          ...{ item_id, subject, outcome: 'answered', note },
        });
        if (done === null) return false;
        say(`${done.item.agent_id} is told`);
        return true;
      },
      async goOn({ kind, subject }) {
        const done =
          kind === 'dead' && isTurn(subject)
            ? await act('turns.retry', { turn_id: subject })
            : await act('turns.resume', { agent_id: subject });
        if (done !== null) say(`${subject} goes on`);
        return done !== null;
      },
      async take({ item_id }, force) {
        const done = await act('docket.take', { item_id, force });
        if (done !== null) say(`${item_id} is yours to see to`);
        return done !== null;
      },
      async close({ item_id }, one, outcome) {
        const subject = one?.subject;
        const done = await act('docket.close', {
          ...{ item_id, outcome },
          ...(subject !== undefined && { subject }),
        });
        if (done !== null) say(`${item_id} is closed: ${outcome}`);
        return done !== null;
      },
    };
  }, [act, prover, say, complain]);
}
