/** The room Work: the plan as a board and as a graph, what is held as a tree of files, who waits for whom, and runs. */
import { type ReactNode, useState } from 'react';
import { plainLine } from '../../../wire/plain-line.ts';
import { Empty } from '../../parts/empty.tsx';
import { RoomHead } from '../../parts/room-head.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Words } from '../../parts/words.tsx';
import { hrefOf, useRoute } from '../../store/route.ts';
import { useAsk } from '../../store/use-store.ts';
import { Board } from './board.tsx';
import { ClaimAside } from './claim-aside.tsx';
import { Claims } from './claims.tsx';
import { PlanGraph } from './plan-graph.tsx';
import { RunView } from './run-view.tsx';
import { Runs } from './runs.tsx';
import { StepAside } from './step-aside.tsx';
import { TaskAside } from './task-aside.tsx';
import './work.css';
import './runs.css';

const VIEWS = [
  ['board', 'Board'],
  ['graph', 'Graph'],
  ['claims', 'Claims'],
  ['runs', 'Runs'],
] as const;
const ROWS_MAX = 500;

export function WorkRoom(): ReactNode {
  const { rest } = useRoute();
  const [view] = VIEWS.find(([name]) => name === rest[0]) ?? VIEWS[0];
  const chosen = rest[1] ?? null;
  const isPlan = view === 'board' || view === 'graph';
  const step = view === 'runs' ? (rest[2] ?? null) : null;
  const isOpen = view === 'runs' ? step !== null : chosen !== null;
  const [project, setProject] = useState<string | undefined>(undefined);
  const board = useAsk(
    'plan.board',
    { limit: ROWS_MAX, ...(project !== undefined && { project }) },
    ['plan', 'claims'],
  );
  const projects = useProjects(board.value?.tasks ?? [], project);
  return (
    <div className="work">
      <RoomHead title="Work">
        {isPlan && projects.length > 0 && (
          <select
            className="field work-project"
            aria-label="Project"
            value={project ?? ''}
            onChange={({ target }) => setProject(target.value === '' ? undefined : target.value)}
          >
            <option value="">all projects</option>
            {projects.map((name) => (
              <option key={name} value={name}>
                {plainLine(name, ' ')}
              </option>
            ))}
          </select>
        )}
        <nav className="tabs" aria-label="Views of the work">
          {VIEWS.map(([name, title]) => (
            <a
              key={name}
              href={hrefOf('work', name)}
              aria-current={name === view ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </RoomHead>
      <div className={isOpen ? 'split split-open' : 'split'}>
        <div className="split-main">
          {view === 'claims' && <Claims chosen={chosen} />}
          {view === 'runs' && (chosen === null ? <Runs /> : <RunView id={chosen} chosen={step} />)}
          {isPlan && (
            <Shown asked={board}>
              {({ tasks, next }) => (
                <>
                  {tasks.length === 0 && <NoTasks project={project} />}
                  {tasks.length > 0 && view === 'board' && <Board tasks={tasks} chosen={chosen} />}
                  {tasks.length > 0 && view === 'graph' && (
                    <PlanGraph tasks={tasks} chosen={chosen} />
                  )}
                  {next !== null && (
                    <p className="work-more quiet">
                      These are the first {ROWS_MAX} tasks by name; choose a project to see the rest
                      of it.
                    </p>
                  )}
                </>
              )}
            </Shown>
          )}
        </div>
        {chosen !== null && view === 'claims' && <ClaimAside id={chosen} />}
        {chosen !== null && step !== null && <StepAside run={chosen} id={step} />}
        {chosen !== null && isPlan && (
          <TaskAside id={chosen} tasks={board.value?.tasks ?? []} view={view} />
        )}
      </div>
    </div>
  );
}

/** Those of the whole board, also while one of them is chosen. */
function useProjects(tasks: readonly { project: string | null }[], chosen?: string): string[] {
  const [known, setKnown] = useState<string[]>([]);
  const found = [...new Set(tasks.flatMap(({ project }) => project ?? []))].sort();
  if (chosen === undefined && found.join('\n') !== known.join('\n')) setKnown(found);
  return known;
}

function NoTasks({ project }: { readonly project: string | undefined }): ReactNode {
  return (
    <Empty title="No tasks" command='synod task declare ID "what is to be done"'>
      {project === undefined ? (
        'The plan is empty. Agents and people put tasks on it:'
      ) : (
        <>
          The plan has none of <Words text={project} />. Put one on it with --project:
        </>
      )}
    </Empty>
  );
}
