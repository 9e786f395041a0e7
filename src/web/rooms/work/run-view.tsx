/** One run, live: what it stands at, its steps as a graph, and what a person may do about it. */
import { type ReactNode, useMemo, useState } from 'react';
import { plainLine } from '../../../wire/plain-line.ts';
import { Since, useNow } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Name, Prose, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { hrefOf } from '../../store/route.ts';
import { useAct, useAsk, useStore } from '../../store/use-store.ts';
import type { PlanNode } from './fold-plan.ts';
import { GraphPlane } from './graph-plane.tsx';
import { Mark } from './mark.tsx';
import { foldSteps, idOfStep } from './run-graph.ts';
import {
  markOf,
  mayBeCancelled,
  mayGoOn,
  runState,
  type Step,
  stateWords,
  stepState,
  tookText,
  type WholeRun,
  waitsFor,
} from './run-words.ts';

const STEPS_MAX = 500;

export function RunView({ id, chosen }: { id: string; chosen: string | null }): ReactNode {
  const run = useAsk('workflows.get', { id }, ['workflows']);
  const steps = useAsk('workflows.steps', { id, limit: STEPS_MAX }, ['workflows']);
  return (
    <article className="run-whole" aria-label="A run">
      <p>
        <a href={hrefOf('work', 'runs')}>All runs</a>
      </p>
      <Shown asked={run}>{(value) => <RunFacts run={value} />}</Shown>
      <Shown asked={steps}>
        {(value) => (
          <>
            <RunGraph {...{ id, chosen, steps: value.steps }} />
            {value.next !== null && (
              <p className="quiet">These are its first {value.steps.length} steps.</p>
            )}
          </>
        )}
      </Shown>
    </article>
  );
}

function RunFacts({ run }: { readonly run: WholeRun }): ReactNode {
  const state = runState(run);
  const now = useNow();
  const began = run.started_at;
  const waits = run.over ? null : waitsFor(run);
  const { parent, error, forked_from: fork } = run;
  return (
    <>
      <h2 className="run-title">
        <Mark state={markOf(state)} word={stateWords(state)} />
        <Words text={run.name} /> <Code text={run.id} />
      </h2>
      <Facts
        rows={[
          ['stands at', stateWords(state)],
          ['waits for', waits === null ? null : <Waits key="waits" {...{ run, waits }} />],
          [
            'started',
            <span key="started">
              <Since at={run.created_at} /> by <Name of={run.started_by} />
            </span>,
          ],
          ['ran', began === null ? null : tookText((run.ended_at ?? Math.max(now, began)) - began)],
          ['held by', run.holder === null ? null : <Name key="holder" of={run.holder} />],
          [
            'part of',
            parent === null ? null : (
              <a key="parent" href={hrefOf('work', 'runs', parent.id)}>
                <Code text={parent.id} />
              </a>
            ),
          ],
          [
            'forked from',
            fork === null ? null : (
              <a key="fork" href={hrefOf('work', 'runs', fork.id)}>
                <Code text={fork.id} />
              </a>
            ),
          ],
          ['failed with', error === null ? null : <Words key="e" text={error.message} />],
          ['stuck', run.stuck === null ? null : <Prose key="s" text={run.stuck.difference} />],
          ['trace', run.traceparent === null ? null : <Code key="t" text={traceOf(run)} />],
        ]}
      />
      <RunActs run={run} />
    </>
  );
}

/** What waits for a person is where a person is asked. */
function Waits({ run, waits }: { readonly run: WholeRun; readonly waits: string }): ReactNode {
  const [first] = run.waiting_on.filter(({ ended }) => !ended);
  const isPerson = first !== undefined && ('gate' in first.on || 'ask' in first.on);
  return isPerson ? (
    <a href={hrefOf('needs')}>
      <Words text={waits} />
    </a>
  ) : (
    <Words text={waits} />
  );
}

/** The id alone: that is what one looks for elsewhere. */
function traceOf({ traceparent }: Pick<WholeRun, 'traceparent'>): string {
  return traceparent?.split('-')[1] ?? '';
}

function RunActs({ run }: { readonly run: WholeRun }): ReactNode {
  const act = useAct();
  const isPast = useCell(useStore().past) !== null;
  const { id } = run;
  if (!mayGoOn(run) && !mayBeCancelled(run)) return null;
  return (
    <div className="acts">
      {mayGoOn(run) && (
        <Button isMain disabled={isPast} onClick={() => void act('workflows.retry', { id })}>
          Go on
        </Button>
      )}
      {mayBeCancelled(run) && (
        <Confirm
          act="Cancel the run"
          title={plainLine(`Cancel ${id}?`, ' ')}
          run={() => act('workflows.cancel', { id, reason: 'cancelled on the page' })}
        >
          <p>Its steps that run are ended, and what it did is undone where it says how.</p>
        </Confirm>
      )}
    </div>
  );
}

interface RunGraphProps {
  readonly id: string;
  readonly steps: readonly Step[];
  readonly chosen: string | null;
}

function RunGraph({ id, steps, chosen }: RunGraphProps): ReactNode {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const nodes = useMemo(() => foldSteps(steps, stepState, opened), [steps, opened]);
  const byId = new Map(steps.map((step) => [idOfStep(step), step]));
  const byNode = new Map(nodes.map((node) => [node.id, node]));
  if (steps.length === 0) return <p className="quiet">It has done nothing yet.</p>;
  return (
    <>
      <p className="graph-head quiet">What was over when a step began stands to its left.</p>
      <GraphPlane label="The run as a graph" nodes={nodes} chosen={chosen}>
        {(node) => (
          <StepNode
            {...{ id, chosen, byId }}
            node={byNode.get(node) as PlanNode}
            onOpen={() => setOpened(new Set([...opened, node]))}
          />
        )}
      </GraphPlane>
    </>
  );
}

interface StepNodeProps {
  readonly id: string;
  readonly node: PlanNode;
  readonly chosen: string | null;
  readonly byId: ReadonlyMap<string, Step>;
  onOpen(): void;
}

function StepNode({ id, node, chosen, byId, onOpen }: StepNodeProps): ReactNode {
  const [only = ''] = node.members;
  const step = byId.get(only);
  const mark = <Mark state={markOf(node.state)} word={stateWords(node.state)} />;
  if (node.members.length > 1 || step === undefined) {
    return (
      <button type="button" className="node node-folded" data-row onClick={onOpen}>
        <span className="node-title">
          {mark}
          {node.members.length} steps
        </span>
        <span className="node-foot clip">
          {stateWords(node.state)} · <Words text={node.members.slice(0, 3).join(', ')} />…
        </span>
      </button>
    );
  }
  return (
    <a
      className={`node node-${node.state}`}
      data-row
      href={hrefOf('work', 'runs', id, only)}
      aria-current={only === chosen ? 'true' : undefined}
    >
      <span className="node-title clip">
        {mark}
        <Words text={step.step} />
      </span>
      <span className="node-foot clip">
        {step.key !== null && (
          <>
            <Words text={step.key} /> ·{' '}
          </>
        )}
        <Took step={step} />
        {step.attempts > 1 && ` · attempt ${step.attempts}`}
        {step.uncertain && ' · may have run'}
      </span>
    </a>
  );
}

function Took({ step }: { readonly step: Step }): ReactNode {
  const { started_at: began, ended_at: ended } = step;
  if (began === null || ended === null) return stateWords(stepState(step));
  return tookText(ended - began);
}
