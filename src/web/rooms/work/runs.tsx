/** Runs of workflows: those under way first to be seen, each with what it stands at and waits for. */
import { type ReactNode, useState } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Name, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { useAsk } from '../../store/use-store.ts';
import { Mark } from './mark.tsx';
import { markOf, type Run, runState, stateWords, waitsFor } from './run-words.ts';

const ROWS_MAX = 200;

export function Runs(): ReactNode {
  const [isWhole, setWhole] = useState(true);
  const asked = useAsk(
    'workflows.list',
    { limit: ROWS_MAX, ...(isWhole && { state: 'all' as const }) },
    ['workflows'],
  );
  return (
    <section className="runs" aria-label="Runs">
      <p className="graph-head quiet">
        {isWhole ? 'All runs that are remembered, the newest first.' : 'Runs that are not over.'}{' '}
        <button type="button" className="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Only those under way' : 'Show all'}
        </button>
      </p>
      <Shown asked={asked}>
        {({ runs, next }) => (
          <>
            {runs.length === 0 && (
              <Empty title={isWhole ? 'No runs' : 'Nothing is under way'}>
                A program starts one with synod/flow, and it is shown here while it runs.
              </Empty>
            )}
            <ul>
              {runs.map((run) => (
                <li key={run.id}>
                  <Row run={run} />
                </li>
              ))}
            </ul>
            {next !== null && <p className="quiet">These are the newest {ROWS_MAX}.</p>}
          </>
        )}
      </Shown>
    </section>
  );
}

function Row({ run }: { readonly run: Run }): ReactNode {
  const state = runState(run);
  const waits = run.over ? null : waitsFor(run);
  return (
    <a className="run" data-row href={hrefOf('work', 'runs', run.id)}>
      <Mark state={markOf(state)} word={stateWords(state)} />
      <span className="run-name clip">
        <Words text={run.name} />
      </span>
      <span className="run-id clip">
        <Code text={run.id} />
      </span>
      <span className="run-state">{stateWords(state)}</span>
      <span className="run-waits clip quiet">{waits !== null && <Words text={waits} />}</span>
      <span className="run-steps quiet">
        {run.steps_count === 1 ? '1 step' : `${run.steps_count} steps`}
      </span>
      <span className="run-by clip quiet">
        <Name of={run.started_by} />
      </span>
      <span className="run-age quiet">
        <Ago at={run.ended_at ?? run.created_at} />
      </span>
    </a>
  );
}
