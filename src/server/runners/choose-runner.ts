/**
 * The runner that is meant by a spec or by a name of the configuration, and whether it can be used here.
 * All that can be known is looked at when an agent is configured, and refused by field; the same
 * is asked again when a turn begins, because programs, links and files change.
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { nearest } from '../../core/law/nearest.ts';
import type { RunnerKind, RunnerSpec, SpecOf } from '../../wire/operations/runner-spec.ts';
import type { Runner } from './runner.ts';
import { type Places, placeOf } from './turn-place.ts';

/** One runner for each kind that the hub itself runs. */
export type Runners = { readonly [K in Exclude<RunnerKind, 'outside'>]?: Runner<SpecOf<K>> };

/** A spec that the hub itself runs. */
export type OwnSpec = Exclude<RunnerSpec, { kind: 'outside' }>;

export interface RunnerChooser {
  /** The spec to be kept, or why it cannot be used, by field. */
  check(choice: string | RunnerSpec): Promise<RunnerSpec | Refusal>;
  /** What is to be run now for a spec that was kept. */
  resolve(kept: RunnerSpec): { readonly spec: OwnSpec; readonly runner: Runner } | Refusal;
  /** The kinds it can run. */
  readonly kinds: readonly string[];
}

export function createChooser(
  runners: Runners,
  named: ReadonlyMap<string, RunnerSpec>,
  places: Places,
): RunnerChooser {
  function byName(name: string): RunnerSpec | Refusal {
    const spec = named.get(name);
    if (spec !== undefined) return { ...spec, ...(spec.kind !== 'outside' && { name }) };
    const near = nearest(name, [...named.keys()], 3);
    const known =
      named.size === 0
        ? 'the configuration file names none under runners'
        : `there are ${[...named.keys()].join(', ')}`;
    const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
    return refuse(
      'runner.unknown',
      `no runner is called ${JSON.stringify(name)}: ${known}.${meant}`,
      {
        violations: [{ field: 'runner', issue: 'names no runner' }],
      },
    );
  }

  function runnerOf(spec: RunnerSpec): Runner | Refusal {
    const found = spec.kind === 'outside' ? undefined : runners[spec.kind];
    if (found !== undefined) return found as unknown as Runner;
    return refuse('runner.unknown', `this hub has no runner of the kind ${spec.kind}`, {
      violations: [{ field: 'runner.kind', issue: 'is not run here' }],
    });
  }

  return {
    kinds: Object.keys(runners),
    async check(choice) {
      const name = nameIn(choice);
      const spec = name === undefined ? (choice as RunnerSpec) : byName(name);
      if (isRefusal(spec) || spec.kind === 'outside') return spec;
      const runner = runnerOf(spec);
      if (isRefusal(runner)) return runner;
      const cwd = spec.cwd === undefined ? null : await placeOf(spec.cwd, places);
      if (isRefusal(cwd)) return byField(cwd);
      const placed = cwd === null ? spec : { ...spec, cwd };
      const refused = await runner.check(placed);
      return refused === null ? placed : byField(refused);
    },
    resolve(kept) {
      const name = nameIn(kept);
      // What the configuration says now, not what it said when the agent was configured.
      const spec = name === undefined ? kept : byName(name);
      if (isRefusal(spec)) return spec;
      const runner = runnerOf(spec);
      return isRefusal(runner) ? runner : { spec: spec as OwnSpec, runner };
    },
  };
}

/** What is under a name is what the configuration has under it, whatever else was said. */
function nameIn(choice: string | RunnerSpec): string | undefined {
  if (typeof choice === 'string') return choice;
  return choice.kind === 'outside' ? undefined : choice.name;
}

/** As every refusal of an input says it. */
function byField(refusal: Refusal): Refusal {
  const field = `runner.${refusal.detail?.field ?? ''}`.replace(/\.$/, '');
  const violations = [{ field, issue: refusal.message }];
  return { ...refusal, detail: { ...refusal.detail, field, violations } };
}
