/** The hands of a workflow: every method makes a step of its kind and asks the run for it. */
import { isName, isPrintable, NAME_ALPHABET } from '../../core/law/text.ts';
import { STEP_KEY_CHARS_MAX, STEP_NAME_CHARS_MAX } from '../../core/workflows/workflow-limits.ts';
import { currentTrace } from '../../telemetry/scope.ts';
import type { Bus } from './bus-step.ts';
import { createClaim } from './claim-step.ts';
import { DefinitionError } from './errors.ts';
import { placeOf } from './queue.ts';
import { createStep } from './step.ts';
import type { StepOptions, StepScope } from './step-options.ts';
import type { Activity, Engine } from './visit.ts';
import {
  createChildWait,
  createGateWait,
  createReplyWait,
  createSignalWait,
  createSleep,
  type Reply,
  sendPrivately,
} from './waits.ts';
import type { WorkflowContext } from './workflow-types.ts';

type Ask = (step: string, key: string | null, activity: Activity) => Promise<unknown>;

export function createContext(engine: Engine, ask: Ask, bus: Bus | null): WorkflowContext {
  /** A mistake of the code is thrown where it is made. */
  function asked<T>(name: string, key: string | undefined, activity: () => Activity): Promise<T> {
    try {
      checkName(name, key);
      return ask(name, key ?? null, activity()) as Promise<T>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  const step: WorkflowContext['step'] = (name, run, options = {}) =>
    asked(name, options.key, () => createStep(engine, 'step', name, run, options));

  const ctx: WorkflowContext = {
    run: {
      ...{ id: engine.run.id, name: engine.run.name },
      startedBefore: engine.run.attempts > 1,
    },
    ended: engine.signal,
    step,
    skip: (name, { key } = {}) =>
      asked(name, key, () => ({
        kind: 'step',
        begin: (visit) => engine.work(visit, () => engine.skip(visit)),
      })),
    sleep: async (name, ms, { key } = {}) => {
      if (!(ms >= 0))
        throw new DefinitionError('sleep.invalid', `${name}: ${ms} is no time to wait`);
      await asked(name, key, () => createSleep(engine, ms));
    },
    gate: (name, { key, ...gate }) => asked(name, key, () => createGateWait(engine, name, gate)),
    signal: (name, { key, timeoutMs, schema } = {}) =>
      asked(name, key, () =>
        createSignalWait(engine, name, timeoutMs, schema && ((value) => schema.parse(value))),
      ),
    child: (name, child, input, { key, id, ...place } = {}) =>
      asked(name, key, () =>
        createChildWait(engine, {
          ...placeOf(child, input, place),
          ...{ name: child.name, input, ...(id !== undefined && { id }) },
          ...(child.version !== null && { version: child.version }),
        }),
      ),
    tell: async (agent, message, { key } = {}) => {
      const body = typeof message === 'string' ? { text: message } : message;
      const tell = ({ key: idempotency_key }: StepScope) =>
        sendPrivately(engine, agent, body, idempotency_key).then(() => null);
      await asked(`tell:${agent}`, key, () =>
        createStep(engine, 'tell', agent, tell, {}, { agent, body }),
      );
    },
    turn: async (agent, message, { key, timeoutMs } = {}) => {
      const body = typeof message === 'string' ? { text: message } : message;
      const replies = await asked<readonly Reply[]>(`turn:${agent}`, key, () =>
        createReplyWait(engine, 'turn', {
          ...{ to: { agent }, body, count: 1 },
          ...(timeoutMs !== undefined && { timeoutMs }),
        }),
      );
      return replies[0] as Reply;
    },
    collect: (name, { key, channel, body, count, timeoutMs }) =>
      asked(name, key, () =>
        createReplyWait(engine, 'collect', {
          ...{ to: { channel }, body, count },
          ...(timeoutMs !== undefined && { timeoutMs }),
        }),
      ),
    bus: (pool, method, params = {}, options = {}) =>
      asked(`bus:${pool}:${method}`, options.key, () => {
        if (bus === null) {
          throw new DefinitionError(
            'bus.absent',
            `${pool} ${method} needs a bus; give one to openFlow({ bus })`,
          );
        }
        const request = ({ key, signal }: StepScope) =>
          bus.request(
            method,
            { ...params },
            {
              ...{ pool, signal, idempotencyKey: key, traceparent: currentTrace() },
              ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
            },
          );
        return createStep(engine, 'bus', pool, request, options as StepOptions<unknown>, {
          ...{ pool, method, params },
        });
      }),
    claim: async (paths, { key, ...options } = {}) => {
      const name = `claim:${options.task ?? 'files'}`;
      const { activity, hold } = createClaim(engine, step, name, key, paths, options);
      return hold(await asked(name, key, () => activity));
    },
  };
  return ctx;
}

/** By the hub's own rules: what it would refuse is refused where it is written. */
function checkName(name: string, key: string | undefined): void {
  if (typeof name !== 'string' || !isName(name, STEP_NAME_CHARS_MAX)) {
    throw new DefinitionError(
      'step.name-invalid',
      `${JSON.stringify(name)} names no step; use 1 to ${STEP_NAME_CHARS_MAX} ${NAME_ALPHABET}, and a key for what it is about`,
    );
  }
  if (key === undefined) return;
  if (typeof key !== 'string' || !isPrintable(key, STEP_KEY_CHARS_MAX)) {
    throw new DefinitionError(
      'step.key-invalid',
      `${name}: a key is 1 to ${STEP_KEY_CHARS_MAX} characters, all of them to be seen; of something longer use a digest`,
    );
  }
}
