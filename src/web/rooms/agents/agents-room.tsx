/** The room Agents: who is here and how that is known, what each does, and the turns of those that the hub runs. */
import type { ReactNode } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { RoomHead } from '../../parts/room-head.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { hrefOf, useRoute } from '../../store/route.ts';
import { useAct, useAsk, useStore } from '../../store/use-store.ts';
import { AgentAside } from './agent-aside.tsx';
import { type Group, lastSignOf, type Managed, type Row, rosterOf, stateOf } from './roster.ts';
import { TurnAside } from './turn-aside.tsx';
import './agents.css';

const ROWS_MAX = 500;

export function AgentsRoom(): ReactNode {
  const { rest } = useRoute();
  const [chosen = null, turn = null] = rest;
  const presence = useAsk('presence.list', { limit: ROWS_MAX }, ['agents']);
  const runs = useAsk('agents.managed', { limit: ROWS_MAX }, ['agents', 'turns']);
  const managed = runs.value?.agents ?? [];
  return (
    <div className="agents">
      <RoomHead title="Agents">
        <PauseAll managed={managed} />
      </RoomHead>
      <div className={chosen === null ? 'split' : 'split split-open'}>
        <div className="split-main">
          <Shown asked={presence}>
            {({ agents, next }) => (
              <>
                {agents.length + managed.length === 0 && (
                  <Empty title="No agents yet" command="synod install">
                    Coding agents come in when Synod is installed in them.
                  </Empty>
                )}
                {rosterOf(agents, managed).map((group) => (
                  <Roster key={group.title} {...{ group, chosen }} />
                ))}
                {next !== null && (
                  <p className="agents-more quiet">These are the first {ROWS_MAX} by name.</p>
                )}
              </>
            )}
          </Shown>
        </div>
        {chosen !== null && turn === null && (
          <AgentAside
            id={chosen}
            agent={presence.value?.agents.find((one) => one.agent_id === chosen) ?? null}
            managed={managed.find((one) => one.agent_id === chosen) ?? null}
          />
        )}
        {chosen !== null && turn !== null && <TurnAside agent={chosen} id={turn} />}
      </div>
    </div>
  );
}

function PauseAll({ managed }: { readonly managed: readonly Managed[] }): ReactNode {
  const act = useAct();
  const isPast = useCell(useStore().past) !== null;
  if (managed.length === 0) return null;
  const isPaused = managed.every(({ state }) => state === 'paused');
  if (isPaused) {
    return (
      <Button disabled={isPast} onClick={() => void act('turns.resume', { all: true })}>
        Resume all
      </Button>
    );
  }
  return (
    <Confirm
      act="Pause all"
      title="Pause every managed agent?"
      run={() => act('turns.pause', { all: true, reason: 'paused on the page' })}
    >
      <p>
        No turn begins until somebody resumes them; a turn that runs is ended and begins again then.
      </p>
    </Confirm>
  );
}

function Roster({ group, chosen }: { group: Group; chosen: string | null }): ReactNode {
  return (
    <section className="roster" aria-label={group.title}>
      <h2>
        {group.title} <span className="quiet">{group.rows.length}</span>
      </h2>
      <ul>
        {group.rows.map((row) => (
          <li key={row.id}>
            <AgentRow row={row} isChosen={row.id === chosen} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function AgentRow({ row, isChosen }: { row: Row; isChosen: boolean }): ReactNode {
  const { id, agent, managed } = row;
  const state = stateOf(row);
  const sign = agent === null ? null : lastSignOf(agent);
  const since = state === managed?.state ? managed.since : (agent?.since ?? null);
  const note = managed?.reason ?? agent?.note ?? null;
  return (
    <a
      className="agent"
      data-row
      href={hrefOf('agents', id)}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span className={`dot dot-${state}`} aria-hidden="true" />
      <span className="agent-name clip">
        <Name of={id} />
      </span>
      <span className="agent-state">
        {state}{' '}
        {since !== null && (
          <span className="quiet">
            <Ago at={since} />
          </span>
        )}
      </span>
      <span className="agent-note clip">{note !== null && <Words text={note} />}</span>
      <span className="agent-counts quiet">
        {(agent?.claims ?? 0) > 0 && <span>{agent?.claims} held</span>}
        {(agent?.owed ?? 0) > 0 && <span>{agent?.owed} unread</span>}
        {managed !== null && <span>${managed.day.usd.toFixed(2)} today</span>}
      </span>
      <span className="agent-sign quiet">
        {sign !== null && (
          <>
            last sign <Ago at={sign} />
          </>
        )}
      </span>
    </a>
  );
}
