/**
 * Reads a team file: YAML, checked whole before anything is started [TE1]. Everything that is wrong with it is
 * told at once, each with its line and column, the field and what it should be. Paths are looked at from the
 * folder of the file.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { nearest } from '../core/law/nearest.ts';
import { RUNNER_KINDS, type RunnerSpec, runnerSpec } from '../wire/operations/runner-spec.ts';
import { fail } from './failure.ts';
import { type TeamAgent, type TeamFile, type TeamProcess, teamSchema } from './team-schema.ts';

const FILE_BYTES_MAX = 1024 * 1024;
const PROBLEMS_SHOWN = 20;

export interface Team {
  readonly path: string;
  readonly name: string;
  readonly channels: Readonly<Record<string, string | null>>;
  readonly agents: readonly Member[];
  readonly plan: TeamFile['plan'];
}

export interface Member
  extends Pick<TeamAgent, 'follows' | 'wake' | 'tools' | 'session' | 'limits'> {
  readonly name: string;
  readonly roles: readonly string[];
  /** How its turns are run; null when it is a program that stays. */
  readonly runner: string | RunnerSpec | null;
  readonly program: TeamProcess | null;
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly issue: string;
  /** It is about the key, not about what stands behind it. */
  readonly isKey?: boolean;
}

export function readTeam(given: string): Team {
  const path = resolve(given);
  const lines = new LineCounter();
  const document = parseDocument(readText(path), { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${given}:${line}:${col}`;
  };
  const broken = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message}`);
  visit(document, {
    Pair(_at, { key }) {
      // No shape would see it.
      if (!isScalar(key) || key.value !== '__proto__') return;
      broken.push(`${at(key.range?.[0] ?? 0)}: __proto__ is no name`);
    },
  });
  if (broken.length > 0) throw refuse(given, broken);
  const found = check(contentOf(given, document));
  if ('team' in found) return created(path, found.team, found.runners);
  const places = found.problems.map((problem) => {
    const field = problem.path.map(String).join('.') || 'the file';
    return { offset: offsetOf(document.contents, problem), words: `${field}: ${problem.issue}` };
  });
  const inOrder = places.toSorted((a, b) => a.offset - b.offset);
  throw refuse(
    given,
    inOrder.map(({ offset, words }) => `${at(offset)}: ${words}`),
  );
}

function readText(path: string): string {
  try {
    if (statSync(path).size > FILE_BYTES_MAX) {
      throw new Error(`it is larger than ${FILE_BYTES_MAX} bytes`);
    }
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw fail('cli.no-input', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Names that stand for names that stand for names grow without end: the parser counts them. */
function contentOf(given: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw refuse(given, [`${given}: ${(cause as Error).message}`]);
  }
}

function refuse(given: string, problems: readonly string[]): Error {
  const more = problems.length - PROBLEMS_SHOWN;
  const shown = problems.slice(0, PROBLEMS_SHOWN);
  const [only = ''] = shown;
  const rest = more > 0 ? [`and ${more} more`] : [];
  return shown.length === 1
    ? fail('team.invalid', only, { detail: { problems: shown } })
    : fail('team.invalid', `${given} cannot be started; nothing was changed`, {
        hint: [...shown, ...rest].join('\n'),
        detail: { problems: shown },
      });
}

type Runners = ReadonlyMap<string, string | RunnerSpec>;

function check(
  value: unknown,
):
  | { readonly team: TeamFile; readonly runners: Runners }
  | { readonly problems: readonly Problem[] } {
  const parsed = teamSchema.safeParse(value ?? {});
  if (!parsed.success) return { problems: parsed.error.issues.flatMap((one) => explain(one, [])) };
  const team = parsed.data;
  const runners = new Map<string, string | RunnerSpec>();
  const problems: Problem[] = [];
  for (const [name, agent] of Object.entries(team.agents)) {
    const path = ['agents', name];
    const { runner } = agent;
    if (runner === undefined || typeof runner === 'string') {
      if (runner !== undefined) runners.set(name, runner);
    } else {
      const spec = runnerSpec().safeParse(runner);
      if (spec.success) runners.set(name, spec.data);
      else {
        const isKnown = RUNNER_KINDS.includes(runner.kind);
        problems.push(
          ...(isKnown
            ? spec.error.issues.flatMap((one) => explain(one, [...path, 'runner']))
            : [
                {
                  path: [...path, 'runner', 'kind'],
                  issue: `there is no runner ${JSON.stringify(runner.kind)}; there are ${RUNNER_KINDS.join(', ')}`,
                },
              ]),
        );
      }
    }
    const wants = agent.about !== undefined && placeOfAbout(runners.get(name) ?? null) === null;
    if (wants && problems.length === 0) {
      const issue =
        'a runner of this kind is told nothing beforehand; leave it out, or write it there';
      problems.push({ path: [...path, 'about'], issue });
    }
  }
  problems.push(...planProblems(team));
  return problems.length > 0 ? { problems } : { team, runners };
}

function explain(issue: z.core.$ZodIssue, before: readonly PropertyKey[]): Problem[] {
  const path = [...before, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      ...{ path: [...path, key], isKey: true },
      issue: `there is no such field${meant(key)}`,
    }));
  }
  if (issue.code === 'invalid_key') {
    const [inner] = issue.issues;
    return [{ path, isKey: true, issue: inner?.message ?? 'no such name' }];
  }
  if (issue.code === 'invalid_union') {
    return [{ path, issue: 'it is a text, or fields with a kind' }];
  }
  if (issue.message.endsWith('received undefined')) return [{ path, issue: 'it is missing' }];
  return [{ path, issue: issue.message }];
}

const FIELDS = [
  ...['team', 'about', 'channels', 'agents', 'plan', 'role', 'roles', 'follows', 'runner'],
  ...['process', 'wake', 'tools', 'session', 'limits', 'command', 'cwd', 'env', 'pass_env'],
  ...['ready', 'restart', 'singleton', 'id', 'title', 'description', 'needs', 'owner'],
];

function meant(key: string): string {
  const [close] = nearest(key, FIELDS, 1);
  return close === undefined ? '' : `; did you mean ${close}?`;
}

/** What the hub would refuse half-way. */
function planProblems({ plan, agents }: TeamFile): Problem[] {
  const problems: Problem[] = [];
  const ids = plan.map(({ id }) => id);
  for (const [at, { id, needs, owner }] of plan.entries()) {
    if (ids.indexOf(id) !== at) {
      problems.push({ path: ['plan', at, 'id'], issue: `there is a task ${id} above` });
    }
    for (const [index, need] of needs.entries()) {
      if (ids.includes(need)) continue;
      problems.push({ path: ['plan', at, 'needs', index], issue: `there is no task ${need} here` });
    }
    if (owner !== undefined && !Object.hasOwn(agents, owner)) {
      problems.push({ path: ['plan', at, 'owner'], issue: `${owner} is no agent of this team` });
    }
  }
  const cycle = problems.length === 0 ? findCycle(plan) : null;
  if (cycle !== null) {
    const first = ids.indexOf(cycle[0] ?? '');
    problems.push({ path: ['plan', first, 'needs'], issue: `in a circle: ${cycle.join(' → ')}` });
  }
  return problems;
}

function findCycle(plan: TeamFile['plan']): readonly string[] | null {
  const needs = new Map(plan.map((task) => [task.id, task.needs]));
  const done = new Set<string>();
  const walk = (id: string, way: readonly string[]): readonly string[] | null => {
    if (way.includes(id)) return [...way.slice(way.indexOf(id)), id];
    if (done.has(id)) return null;
    for (const next of needs.get(id) ?? []) {
      const found = walk(next, [...way, id]);
      if (found !== null) return found;
    }
    done.add(id);
    return null;
  };
  for (const { id } of plan) {
    const found = walk(id, []);
    if (found !== null) return found;
  }
  return null;
}

/** Where in the file it is: the node, the key, or the nearest thing around it that is there. */
function offsetOf(contents: unknown, { path, isKey }: Problem): number {
  let node: unknown = contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const [depth, step] of path.entries()) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      : undefined;
    const isLast = depth === path.length - 1;
    const key = pair?.key as Node | undefined;
    if (key?.range) offset = key.range[0];
    if (pair !== undefined && isKey === true && isLast) return offset;
    const next = pair === undefined ? childOf(node, step) : pair.value;
    if (!isNode(next)) return offset;
    node = next;
    if (isScalar(next) || pair === undefined) offset = next.range?.[0] ?? offset;
  }
  return offset;
}

function childOf(node: unknown, step: PropertyKey): unknown {
  if (!isNode(node) || !('items' in node) || typeof step !== 'number') return undefined;
  return (node.items as readonly unknown[])[step];
}

/** The field of a runner that what an agent is told beforehand goes into; null when it has none. */
function placeOfAbout(runner: string | RunnerSpec | null): 'options' | 'system_prompt' | null {
  if (runner === null || typeof runner === 'string') return null;
  if (runner.kind === 'model') return 'system_prompt';
  return ['claude', 'codex', 'acp'].includes(runner.kind) ? 'options' : null;
}

function created(path: string, team: TeamFile, runners: Runners): Team {
  const from = (place: string): string => resolve(dirname(path), place);
  const agents = Object.entries(team.agents).map(([name, agent]): Member => {
    const { role, roles, about, runner: _, process: program, ...rest } = agent;
    const runner = runners.get(name) ?? null;
    return {
      ...{ ...rest, name },
      roles: roles ?? (role === undefined ? [] : [role]),
      runner: typeof runner === 'string' ? runner : runner && completed(runner, about, from),
      program: program === undefined ? null : { ...program, cwd: from(program.cwd ?? '.') },
    };
  });
  const { channels, plan } = team;
  return { path, name: team.team, channels, agents, plan };
}

function completed(
  runner: RunnerSpec,
  about: string | undefined,
  from: (place: string) => string,
): RunnerSpec {
  const fields = runner as RunnerSpec & {
    readonly cwd?: string;
    readonly secret?: { readonly file?: string };
    readonly options?: object;
  };
  const place = about === undefined ? null : placeOfAbout(runner);
  const file = fields.secret?.file;
  return {
    ...fields,
    ...(fields.cwd !== undefined && { cwd: from(fields.cwd) }),
    ...(file !== undefined && { secret: { file: from(file) } }),
    ...(place === 'options' && { options: { instructions: about, ...fields.options } }),
    ...(place === 'system_prompt' && { system_prompt: about }),
  } as RunnerSpec;
}
