/** One agent: the evidence that it lives, what it holds, and, where the hub runs it, why, how often and at what cost. */
import type { ReactNode } from 'react';
import { Ago, Clock, For, Since } from '../../parts/ago.tsx';
import { Aside } from '../../parts/aside.tsx';
import { Button } from '../../parts/button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Code, Name, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { hrefOf } from '../../store/route.ts';
import { useAct, useAsk, useStore } from '../../store/use-store.ts';
import { type Agent, amountText, type Budget, budgetsOf, type Managed } from './roster.ts';
import { reasonText, type Turn, turnStateText } from './turn-text.ts';

interface AgentAsideProps {
  readonly id: string;
  readonly agent: Agent | null;
  readonly managed: Managed | null;
}

export function AgentAside({ id, agent, managed }: AgentAsideProps): ReactNode {
  return (
    <Aside title={<Name of={id} />} label="An agent" back={hrefOf('agents')}>
      {agent === null && managed === null && <p className="quiet">Nobody here has this name.</p>}
      {agent !== null && <Evidence agent={agent} />}
      {(agent?.claims ?? 0) > 0 && <Held id={id} />}
      {managed !== null && <Runs managed={managed} />}
    </Aside>
  );
}

function Evidence({ agent }: { readonly agent: Agent }): ReactNode {
  const { evidence, state, since, note, roles, owed } = agent;
  const ago = (at: number | null): ReactNode => (at === null ? null : <Since at={at} />);
  return (
    <section aria-label="Evidence of life">
      <h3>How we know</h3>
      <Facts
        rows={[
          [
            'state',
            <span key="state">
              {state}
              {since !== null && (
                <>
                  {' '}
                  <For at={since} />
                </>
              )}
            </span>,
          ],
          ['doing', note === null ? null : <Words key="note" text={note} />],
          ['connected', evidence.connections === 0 ? 'no' : `${evidence.connections} open`],
          ['heartbeat', ago(evidence.last_heartbeat)],
          [
            'last call',
            evidence.last_call === null ? null : (
              <span key="call">
                {ago(evidence.last_call)}
                {evidence.last_operation !== null && (
                  <>
                    {' '}
                    <Code text={evidence.last_operation} />
                  </>
                )}
              </span>
            ),
          ],
          ['last hook', ago(evidence.last_hook)],
          ['process', evidence.process === null ? null : String(evidence.process)],
          ['roles', roles.length === 0 ? null : <Words key="roles" text={roles.join(', ')} />],
          ['unread', owed === 0 ? null : String(owed)],
        ]}
      />
    </section>
  );
}

function Held({ id }: { readonly id: string }): ReactNode {
  const { value } = useAsk('claims.list', { owner: id, limit: 50 }, ['claims']);
  return (
    <section aria-label="Claims">
      <h3>Holds</h3>
      <ul className="inline-list">
        {value?.claims.map((claim) => (
          <li key={claim.task_id}>
            <a href={hrefOf('work', 'claims', claim.task_id)}>
              <Code text={claim.task_id} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Runs({ managed }: { readonly managed: Managed }): ReactNode {
  const act = useAct();
  const isPast = useCell(useStore().past) !== null;
  const { agent_id, state, reason, pending, turns, cost, runner, next_look_at: look } = managed;
  const isStill = state === 'paused' || state === 'parked';
  return (
    <>
      <section aria-label="Managed">
        <h3>The hub runs it</h3>
        <Facts
          rows={[
            [
              'stands at',
              <span key="state">
                {state} <For at={managed.since} />
              </span>,
            ],
            ['because', reason === null ? null : <Words key="why" text={reason} />],
            ['runner', <Words key="runner" text={String(runner.kind ?? '')} />],
            ['mail', pending === 0 ? 'nothing waits' : `${pending} for the next turn`],
            ['looks again', look === null ? null : <Clock key="look" at={look} />],
            ['so far', `${turns} ${turns === 1 ? 'turn' : 'turns'}, $${cost.usd.toFixed(2)}`],
          ]}
        />
      </section>
      <Budgets managed={managed} />
      <div className="acts">
        {isStill ? (
          <Button isMain disabled={isPast} onClick={() => void act('turns.resume', { agent_id })}>
            Resume
          </Button>
        ) : (
          <Button
            disabled={isPast}
            onClick={() => void act('turns.pause', { agent_id, reason: 'paused on the page' })}
          >
            Pause
          </Button>
        )}
      </div>
      <Turns id={agent_id} />
    </>
  );
}

function Budgets({ managed }: { readonly managed: Managed }): ReactNode {
  const budgets = budgetsOf(managed);
  if (budgets.length === 0) return null;
  return (
    <section aria-label="Budgets">
      <h3>Of the last day</h3>
      <ul className="budgets">
        {budgets.map((budget) => (
          <BudgetRow key={budget.name} budget={budget} />
        ))}
      </ul>
    </section>
  );
}

function BudgetRow({ budget: { name, spent, limit, unit } }: { budget: Budget }): ReactNode {
  const part = limit === 0 ? 1 : Math.min(1, spent / limit);
  const left = amountText(Math.max(0, limit - spent), unit);
  return (
    <li className="budget">
      <span>{name}</span>
      <svg
        width="100%"
        height="6"
        aria-hidden="true"
        className={part >= 1 ? 'bar bar-full' : 'bar'}
      >
        <rect width="100%" height="6" rx="3" />
        <rect width={`${part * 100}%`} height="6" rx="3" className="bar-part" />
      </svg>
      <span className="budget-left">
        {amountText(spent, unit)} of {amountText(limit, unit)}, {left} left
      </span>
    </li>
  );
}

function Turns({ id }: { readonly id: string }): ReactNode {
  const { value } = useAsk('turns.list', { agent_id: id, limit: 30 }, ['turns']);
  return (
    <section aria-label="Turns">
      <h3>Turns</h3>
      {value?.turns.length === 0 && <p className="quiet">It has had none yet.</p>}
      <ul>
        {value?.turns.map((turn) => (
          <li key={turn.turn_id}>
            <TurnRow turn={turn} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function TurnRow({ turn }: { readonly turn: Turn }): ReactNode {
  return (
    <a className="turn" data-row href={hrefOf('agents', turn.agent_id, turn.turn_id)}>
      <span className={`dot dot-${turn.state}`} aria-hidden="true" />
      <span className="turn-state">{turnStateText(turn)}</span>
      <span className="clip quiet">
        <Words text={reasonText(turn)} />
      </span>
      <span className="turn-cost quiet">
        {turn.cost.usd > 0 && `$${turn.cost.usd.toFixed(2)} · `}
        <Ago at={turn.ended_at ?? turn.taken_at ?? turn.due_at} />
      </span>
    </a>
  );
}
