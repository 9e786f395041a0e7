/** A gate as a person must see it before saying yes: who, what, by which rule, until when, and the hash of what would be done. */
import { type ReactNode, useState } from 'react';
import { Ago, Clock } from '../../parts/ago.tsx';
import { BodyText } from '../../parts/body-text.tsx';
import { Button } from '../../parts/button.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { ReasonForm } from '../../parts/reason-form.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Name, Words } from '../../parts/words.tsx';
import { useAsk } from '../../store/use-store.ts';
import { type Gate, type Subject, whoDecides } from './kinds.ts';
import type { Decide } from './use-decide.ts';

interface GateSubjectProps {
  readonly subject: Subject;
  readonly isOpen: boolean;
  readonly decide: Decide;
}

const HASH_CHARS = 12;

export function GateSubject({ subject, isOpen, decide }: GateSubjectProps): ReactNode {
  const asked = useAsk('gates.get', { gate_id: subject.subject }, ['gates']);
  const [isDenying, setDenying] = useState(false);
  return (
    <Shown asked={asked}>
      {(gate) => (
        <>
          {isOpen && <Whole gate={gate} />}
          {isDenying ? (
            <ReasonForm
              label={`Why not? ${gate.asker} goes on by it.`}
              button="Deny"
              isNeeded
              onSay={(reason) => decide.gate(gate, 'deny', reason)}
              onCancel={() => setDenying(false)}
            />
          ) : (
            <div className="acts">
              <Button isMain data-press="a" onClick={() => void decide.gate(gate, 'approve', null)}>
                Approve
              </Button>
              <Button data-press="d" onClick={() => setDenying(true)}>
                Deny…
              </Button>
              {!isOpen && <InShort gate={gate} />}
            </div>
          )}
        </>
      )}
    </Shown>
  );
}

function InShort({ gate }: { readonly gate: Gate }): ReactNode {
  const { payload_hash: hash, by, approvals, deadline_at: deadline, tier } = gate;
  return (
    <p className="short quiet">
      {hash !== null && (
        <span>
          payload <Code text={`${hash.slice(0, HASH_CHARS)}…`} />
        </span>
      )}
      {tier === 2 && <span>tier 2</span>}
      {by.count > 1 && <span>{`${approvals.length} of ${by.count} approved`}</span>}
      {deadline !== null && (
        <span>
          until <Clock at={deadline} />
        </span>
      )}
    </p>
  );
}

function Whole({ gate }: { readonly gate: Gate }): ReactNode {
  const text = (value: string | null): ReactNode =>
    value === null ? null : <Words text={value} />;
  const rows: Fact[] = [
    ['gate', <Code key="gate" text={gate.gate_id} />],
    ['asked by', <Name key="asker" of={gate.asker} />],
    ['action', text(gate.action)],
    ['subject', text(gate.subject)],
    ['tier', String(gate.tier)],
    ['for', text(whoDecides(gate))],
    ['deadline', gate.deadline_at === null ? 'never' : <Clock key="at" at={gate.deadline_at} />],
    ['payload', gate.payload_hash === null ? null : <Code key="hash" text={gate.payload_hash} />],
    ['rule', text(gate.policy)],
    ['thread', text(gate.thread)],
    ['turn', text(gate.turn_id)],
    ...gate.approvals.map(
      (one): Fact => [
        'approved',
        <span key={one.by}>
          by <Name of={one.by} /> ({one.proof}), <Ago at={one.at} />
        </span>,
      ],
    ),
  ];
  return (
    <>
      <Facts rows={rows} />
      {gate.message_id !== null && <Held messageId={gate.message_id} />}
    </>
  );
}

/** The post that waits behind a gate: whoever decides reads it first. */
export function Held({ messageId }: { readonly messageId: string }): ReactNode {
  const { value } = useAsk('held.list', { message_id: messageId }, ['held']);
  const found = value?.held.find(({ message }) => message.message_id === messageId);
  if (found === undefined) return null;
  return (
    <blockquote className="quoted">
      <p className="quiet">
        <Name of={found.message.sender} /> on <Words text={found.message.channel} />
      </p>
      <BodyText body={found.message.body} />
    </blockquote>
  );
}
