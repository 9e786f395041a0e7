/** One step of a run: when, how often, what it gave or why it failed, and what it waits for. */
import type { ReactNode } from 'react';
import { Clock } from '../../parts/ago.tsx';
import { Aside } from '../../parts/aside.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Code, Prose, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { useAsk } from '../../store/use-store.ts';
import { Mark } from './mark.tsx';
import { idOfStep } from './run-graph.ts';
import { markOf, type Step, stateWords, stepState, tookText, waitText } from './run-words.ts';

const STEPS_MAX = 500;

export function StepAside({ run, id }: { readonly run: string; readonly id: string }): ReactNode {
  const { value } = useAsk('workflows.steps', { id: run, limit: STEPS_MAX }, ['workflows']);
  const step = value?.steps.find((one) => idOfStep(one) === id);
  return (
    <Aside title={<Code text={id} />} label="A step" back={hrefOf('work', 'runs', run)}>
      {step === undefined ? (
        <p className="quiet">
          {value == null || value.next === null
            ? 'The run has no step of this name (yet).'
            : `It is none of the first ${value.steps.length} steps, which are all that is shown here.`}
        </p>
      ) : (
        <Body step={step} />
      )}
    </Aside>
  );
}

function Body({ step }: { readonly step: Step }): ReactNode {
  const { started_at: began, ended_at: ended, cost, error, waiting_on: wait } = step;
  const state = stepState(step);
  const tokens = (cost?.tokens_in ?? 0) + (cost?.tokens_out ?? 0);
  const child = wait?.on.child;
  return (
    <>
      <Facts
        rows={[
          [
            'stands at',
            <span key="state">
              <Mark state={markOf(state)} word={stateWords(state)} /> {stateWords(state)}
            </span>,
          ],
          ['is a', step.kind === 'step' ? null : <Words key="kind" text={step.kind} />],
          [
            'waits for',
            wait === null || wait.ended ? null : <Words key="w" text={waitText(wait)} />,
          ],
          [
            'run',
            typeof child !== 'string' ? null : (
              <a key="child" href={hrefOf('work', 'runs', child)}>
                <Code text={child} />
              </a>
            ),
          ],
          ['began', began === null ? null : <Clock key="began" at={began} />],
          ['took', began === null || ended === null ? null : tookText(ended - began)],
          ['attempts', step.attempts > 1 ? String(step.attempts) : null],
          ['may have run', step.uncertain ? 'its process was lost while it ran' : null],
          [
            'cost',
            cost === null
              ? null
              : `$${(cost.usd ?? 0).toFixed(2)}, ${tokens.toLocaleString('en')} tokens`,
          ],
        ]}
      />
      {error !== null && (
        <section aria-label="Error">
          <h3>
            <Words text={error.name} />
          </h3>
          <Prose text={error.message} />
        </section>
      )}
      {step.result !== undefined && step.result !== null && (
        <section aria-label="Result">
          <h3>What it gave</h3>
          <Prose text={resultText(step.result)} />
        </section>
      )}
    </>
  );
}

function resultText(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result, null, 2);
}
