/** The board: tasks in columns by what they stand at; on a narrow screen the columns are below each other. */
import { type ReactNode, useState } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Code, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { Mark } from './mark.tsx';
import {
  type BoardColumn,
  columnsOf,
  holderText,
  sinceOf,
  stateOf,
  type Task,
} from './task-state.ts';

interface BoardProps {
  readonly tasks: readonly Task[];
  readonly chosen: string | null;
}

/** In a column until somebody asks for all. */
const ROWS_SHOWN = 30;

export function Board({ tasks, chosen }: BoardProps): ReactNode {
  const done = new Set(tasks.filter(({ status }) => status === 'done').map((one) => one.task_id));
  return (
    <div className="board">
      {columnsOf(tasks).map((column) => (
        <Column key={column.title} {...{ column, chosen, done }} />
      ))}
    </div>
  );
}

interface ColumnProps {
  readonly column: BoardColumn;
  readonly chosen: string | null;
  readonly done: ReadonlySet<string>;
}

function Column({ column: { title, tasks }, chosen, done }: ColumnProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? tasks : tasks.slice(0, ROWS_SHOWN);
  return (
    <section className="board-column" aria-label={`${title}, ${tasks.length}`}>
      <h2>
        {title} <span className="quiet">{tasks.length}</span>
      </h2>
      {tasks.length === 0 && <p className="board-none quiet">none</p>}
      <ul>
        {shown.map((task) => (
          <li key={task.task_id}>
            <Card task={task} isChosen={task.task_id === chosen} done={done} />
          </li>
        ))}
      </ul>
      {shown.length < tasks.length && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          Show all {tasks.length}
        </button>
      )}
    </section>
  );
}

interface CardProps {
  readonly task: Task;
  readonly isChosen: boolean;
  readonly done: ReadonlySet<string>;
}

function Card({ task, isChosen, done }: CardProps): ReactNode {
  const holder = holderText(task, (id) => done.has(id));
  return (
    <a
      className="card"
      data-row
      href={hrefOf('work', 'board', task.task_id)}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span className="card-title">
        <Mark state={stateOf(task)} />
        <Words text={task.title} />
      </span>
      <span className="card-foot">
        <Code text={task.task_id} />
        {holder !== null && (
          <span className="clip">
            <Words text={holder} />
          </span>
        )}
        <span className="card-age">
          <Ago at={sinceOf(task)} />
        </span>
      </span>
    </a>
  );
}
