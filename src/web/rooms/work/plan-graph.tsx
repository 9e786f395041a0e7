/**
 * The plan as a graph: what others depend on to the left of them. Nodes are links, so the keyboard reaches
 * them and a reader hears state and dependencies; the lines between them are drawn for the eye alone.
 */
import { type ReactNode, useMemo, useState } from 'react';
import { plainLine } from '../../../wire/plain-line.ts';
import { Code, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { foldPlan, type PlanNode } from './fold-plan.ts';
import { GraphPlane } from './graph-plane.tsx';
import { Mark } from './mark.tsx';
import { stateOf, stateText, type Task, type TaskState } from './task-state.ts';

interface PlanGraphProps {
  readonly tasks: readonly Task[];
  readonly chosen: string | null;
}

export function PlanGraph({ tasks, chosen }: PlanGraphProps): ReactNode {
  const [showsFinished, setShowsFinished] = useState(false);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const folded = useMemo(() => {
    const plain = tasks.map((task) => ({
      ...{ id: task.task_id, dependsOn: task.depends_on, state: stateOf(task) },
    }));
    return foldPlan(plain, { showsFinished, opened });
  }, [tasks, showsFinished, opened]);
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const nodes = new Map(folded.nodes.map((node) => [node.id, node]));
  return (
    <div className="graph">
      <p className="graph-head quiet">
        {folded.nodes.length === 0
          ? 'Nothing that is open depends on anything.'
          : 'What a task depends on stands to its left.'}{' '}
        {(folded.finishedHidden > 0 || showsFinished) && (
          <button type="button" className="link" onClick={() => setShowsFinished(!showsFinished)}>
            {showsFinished ? 'Hide what is finished' : `Show ${folded.finishedHidden} finished`}
          </button>
        )}
      </p>
      {folded.nodes.length > 0 && (
        <GraphPlane label="The plan as a graph" nodes={folded.nodes} chosen={chosen}>
          {(id) => (
            <Node
              {...{ chosen, byId }}
              node={nodes.get(id) as PlanNode}
              onOpen={() => setOpened(new Set([...opened, id]))}
            />
          )}
        </GraphPlane>
      )}
      {folded.alone.length > 0 && <Alone {...{ ids: folded.alone, byId, chosen }} />}
    </div>
  );
}

interface NodeProps {
  readonly node: PlanNode;
  readonly chosen: string | null;
  readonly byId: ReadonlyMap<string, Task>;
  onOpen(): void;
}

function Node({ node, chosen, byId, onOpen }: NodeProps): ReactNode {
  const { members, state, dependsOn } = node;
  const [only = ''] = members;
  const task = byId.get(only);
  if (members.length > 1 || task === undefined) {
    return (
      <button type="button" className="node node-folded" data-row onClick={onOpen}>
        <span className="node-title">
          <Mark state={state as TaskState} />
          {members.length} tasks
        </span>
        <span className="node-foot clip">
          {stateText(state)} · <Words text={members.slice(0, 3).join(', ')} />…
        </span>
      </button>
    );
  }
  const needs = dependsOn.length === 0 ? '' : `, depends on ${dependsOn.join(', ')}`;
  return (
    <a
      className="node"
      data-row
      href={hrefOf('work', 'graph', task.task_id)}
      aria-current={task.task_id === chosen ? 'true' : undefined}
    >
      <span className="node-title clip">
        <Mark state={state as TaskState} />
        <Words text={task.title} />
      </span>
      <span className="node-foot clip">
        <Code text={task.task_id} />
        {task.claim !== null && (
          <>
            {' '}
            · <Words text={task.claim.owner} />
          </>
        )}
        <span className="unseen">{plainLine(needs, ' ')}</span>
      </span>
    </a>
  );
}

interface AloneProps {
  readonly ids: readonly string[];
  readonly byId: ReadonlyMap<string, Task>;
  readonly chosen: string | null;
}

const ALONE_SHOWN = 60;

function Alone({ ids, byId, chosen }: AloneProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? ids : ids.slice(0, ALONE_SHOWN);
  return (
    <section className="graph-alone" aria-label="Tasks without dependencies">
      <h2>
        Depend on nothing <span className="quiet">{ids.length}</span>
      </h2>
      <ul>
        {shown.flatMap((id) => {
          const task = byId.get(id);
          if (task === undefined) return [];
          return (
            <li key={id}>
              <a
                className="chip"
                data-row
                href={hrefOf('work', 'graph', id)}
                aria-current={id === chosen ? 'true' : undefined}
              >
                <Mark state={stateOf(task)} />
                <span className="clip">
                  <Words text={task.title} />
                </span>
              </a>
            </li>
          );
        })}
      </ul>
      {shown.length < ids.length && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          Show all {ids.length}
        </button>
      )}
    </section>
  );
}
