/** One task: what it is, what it needs and who needs it, what was noted on it, and what a person may do about it. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { Ago, Since } from '../../parts/ago.tsx';
import { Aside } from '../../parts/aside.tsx';
import { Button } from '../../parts/button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Code, Name, Prose, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { hrefOf } from '../../store/route.ts';
import { useAct, useAsk, useStore } from '../../store/use-store.ts';
import { Mark } from './mark.tsx';
import { stateOf, stateText, type Task } from './task-state.ts';

interface TaskAsideProps {
  readonly id: string;
  readonly tasks: readonly Task[];
  readonly view: 'board' | 'graph';
}

export function TaskAside({ id, tasks, view }: TaskAsideProps): ReactNode {
  const task = tasks.find((one) => one.task_id === id);
  const back = hrefOf('work', view);
  if (task === undefined) {
    return (
      <Aside title={<Code text={id} />} label="A task" back={back}>
        <p className="quiet">The plan has no task of this name (any more).</p>
      </Aside>
    );
  }
  const neededBy = tasks.filter(({ depends_on: needs }) => needs.includes(id));
  const { claim, depends_on: needs, suggested_owner: suggested } = task;
  return (
    <Aside title={<Words text={task.title} />} label="A task" back={back}>
      <Facts
        rows={[
          ['task', <Code key="id" text={id} />],
          [
            'stands at',
            <span key="state">
              <Mark state={stateOf(task)} /> {stateText(stateOf(task))}
            </span>,
          ],
          [
            'held by',
            claim === null ? null : (
              <a key="claim" href={hrefOf('work', 'claims', id)}>
                <Name of={claim.owner} />
              </a>
            ),
          ],
          ['suggested', suggested === null ? null : <Name key="suggested" of={suggested} />],
          ['project', task.project === null ? null : <Words key="project" text={task.project} />],
          ['needs', needs.length === 0 ? null : <Links key="needs" {...{ ids: needs, view }} />],
          [
            'needed by',
            neededBy.length === 0 ? null : (
              <Links key="by" {...{ ids: neededBy.map((one) => one.task_id), view }} />
            ),
          ],
          [
            'declared',
            <span key="declared">
              <Since at={task.created_at} /> by <Name of={task.created_by} />
            </span>,
          ],
          ['changed', <Since key="changed" at={task.updated_at} />],
        ]}
      />
      {task.description !== '' && <Prose text={task.description} />}
      <TaskActs task={task} />
      <Notes id={id} />
    </Aside>
  );
}

function Links({ ids, view }: { ids: readonly string[]; view: string }): ReactNode {
  return (
    <ul className="inline-list">
      {ids.map((id) => (
        <li key={id}>
          <a href={hrefOf('work', view, id)}>
            <Code text={id} />
          </a>
        </li>
      ))}
    </ul>
  );
}

const MOVES = [
  ['done', 'Mark done'],
  ['cancelled', 'Cancel'],
  ['open', 'Open again'],
] as const;

function TaskActs({ task }: { readonly task: Task }): ReactNode {
  const act = useAct();
  const isPast = useCell(useStore().past) !== null;
  const isOver = task.status === 'done' || task.status === 'cancelled';
  const moves = MOVES.filter(([status]) => (status === 'open') === isOver);
  const { task_id, version: expected_version } = task;
  return (
    <div className="acts">
      {moves.map(([status, title]) => (
        <Button
          key={status}
          disabled={isPast}
          onClick={() => void act('plan.update', { task_id, status, expected_version })}
        >
          {title}
        </Button>
      ))}
    </div>
  );
}

function Notes({ id }: { readonly id: string }): ReactNode {
  const { value } = useAsk('plan.notes', { task_id: id, limit: 100 }, ['plan']);
  const act = useAct();
  const isPast = useCell(useStore().past) !== null;
  const [text, setText] = useState('');
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (text.trim() === '') return;
    if ((await act('plan.progress', { task_id: id, text })) !== null) setText('');
  };
  const notes = value?.notes ?? [];
  return (
    <section aria-label="Progress">
      <h3>Progress</h3>
      {notes.length === 0 && <p className="quiet">Nothing was noted yet.</p>}
      <ol className="notes">
        {notes.map((note) => (
          <li key={note.seq}>
            <p className="note-head">
              <Name of={note.author} /> {note.kind !== 'note' && note.kind}{' '}
              <span className="quiet">
                <Ago at={note.posted_at} />
              </span>
            </p>
            <Prose text={note.text} />
          </li>
        ))}
      </ol>
      <form className="note-form" onSubmit={(event) => void send(event)}>
        <input
          className="field"
          aria-label="A note on this task"
          placeholder="Note something"
          value={text}
          maxLength={4_000}
          disabled={isPast}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" disabled={isPast || text.trim() === ''}>
          Note
        </Button>
      </form>
    </section>
  );
}
