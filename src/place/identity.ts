/**
 * Who a command is, and how we came to think so.
 *
 * A credential that names its agent settles it. Otherwise a name that was chosen (flag, environment)
 * stands as it was written, joined only with a project that was chosen too; a name nobody chose takes
 * the project of the git common directory, the same in every worktree [GI8]. Whatever looks
 * like an accident (the name of a home, of /tmp) is said, with what to do [GI9].
 */
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { isProblem, type Problem, quoted } from './problem.ts';
import type { Repository } from './repository.ts';

export type IdentitySource = 'flag' | 'environment' | 'credential' | 'git' | 'default';

export interface IdentityPart {
  readonly part: 'agent' | 'project';
  readonly value: string;
  readonly source: IdentitySource;
  /** `--as`, `SYNOD_AGENT`, the git common directory, … */
  readonly from: string;
}

export interface IdentityWarning {
  readonly warning:
    | 'identity.implausible-project'
    | 'identity.home-repository'
    | 'identity.not-chosen'
    | 'identity.disagreement'
    | 'identity.overruled'
    | 'identity.invalid'
    | 'identity.no-project';
  readonly message: string;
  readonly remedy: string;
}

export interface Identity {
  /** `project/agent`, or `agent`. */
  readonly name: string;
  readonly agent: string;
  /** What the work belongs to, also where it is no part of the name. */
  readonly project: string | null;
  readonly parts: readonly IdentityPart[];
  readonly warnings: readonly IdentityWarning[];
}

export interface IdentityQuestion {
  readonly asFlag?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The agent a token was made for; null when the credential names none. */
  readonly credentialAgent: string | null;
  readonly repository: Repository | Problem;
  /** The name of whoever chose none. */
  readonly defaultAgent: string;
  readonly home?: string;
}

const AGENT_VARIABLES = ['SYNOD_AGENT', 'SOX_AGENT_ID'] as const;
const AGENT_CHARS_MAX = 128;
/** Folders that hold projects or nothing; no project is called so. */
const IMPLAUSIBLE = new Set(
  'tmp temp root home users usr var bin etc opt mnt media dev srv src work workspace'.split(' '),
);

export function resolveIdentity(question: IdentityQuestion): Identity {
  const warnings: IdentityWarning[] = [];
  const agent = chooseAgent(question, warnings);
  const chosen = chooseProject(question);
  const ofName = projectOfName(agent);
  const project = ofName ?? chosen;
  const isJoined =
    ofName === null &&
    chosen !== null &&
    (agent.source === 'default' ||
      (agent.source !== 'credential' && chosen.source === 'environment'));
  const name = isJoined ? `${chosen.value}/${agent.value}` : agent.value;
  warnAboutName(name, agent, warnings);
  warnAboutProject(project, question, warnings);
  const bare = ofName === null ? agent.value : agent.value.slice(ofName.value.length + 1);
  return {
    name,
    agent: bare,
    project: project?.value ?? null,
    parts: [{ ...agent, value: bare }, ...(project === null ? [] : [project])],
    warnings,
  };
}

function chooseAgent(question: IdentityQuestion, warnings: IdentityWarning[]): IdentityPart {
  const { asFlag, env, credentialAgent } = question;
  const told: IdentityPart[] = [];
  if (asFlag) told.push({ part: 'agent', value: asFlag, source: 'flag', from: '--as' });
  for (const from of AGENT_VARIABLES) {
    const value = env[from];
    if (value) told.push({ part: 'agent', value, source: 'environment', from });
  }
  if (credentialAgent !== null) {
    const against = told.find(({ value }) => value !== credentialAgent);
    if (against !== undefined) warnings.push(overruled(against, credentialAgent));
    return { part: 'agent', value: credentialAgent, source: 'credential', from: 'the credential' };
  }
  const [first, ...others] = told;
  if (first === undefined) {
    warnings.push(notChosen(question.defaultAgent));
    const value = question.defaultAgent;
    return { part: 'agent', value, source: 'default', from: 'the name of the user' };
  }
  const other = others.find(({ value }) => value !== first.value);
  // A flag is there to differ from the environment; two variables are not there to differ.
  if (other !== undefined && first.source === 'environment') {
    warnings.push(disagreement(first, other));
  }
  return first;
}

function chooseProject({ env, repository }: IdentityQuestion): IdentityPart | null {
  const part = 'project' as const;
  if (env.SYNOD_PROJECT) {
    return { part, value: env.SYNOD_PROJECT, source: 'environment', from: 'SYNOD_PROJECT' };
  }
  if (isProblem(repository) || repository.project === '') return null;
  const from = `the git common directory ${repository.commonDir}`;
  return { part, value: repository.project, source: 'git', from };
}

function projectOfName(agent: IdentityPart): IdentityPart | null {
  const at = agent.value.indexOf('/');
  if (at <= 0 || at === agent.value.length - 1) return null;
  return { ...agent, part: 'project', value: agent.value.slice(0, at) };
}

function warnAboutName(name: string, agent: IdentityPart, warnings: IdentityWarning[]): void {
  const isFine =
    name.length <= AGENT_CHARS_MAX && !/[\s~\p{C}]/u.test(name) && /^[^/]+(\/[^/]+)?$/.test(name);
  if (isFine) return;
  warnings.push({
    warning: 'identity.invalid',
    message: `${quoted(name)} (from ${agent.from}) is no name of an agent`,
    remedy: `write agent or project/agent: at most ${AGENT_CHARS_MAX} characters, no spaces, no "~"`,
  });
}

function warnAboutProject(
  project: IdentityPart | null,
  question: IdentityQuestion,
  warnings: IdentityWarning[],
): void {
  const { repository, home = homedir() } = question;
  if (project === null) {
    const why = isProblem(repository) ? repository.message : 'the repository has no name';
    warnings.push({
      warning: 'identity.no-project',
      message: `no project: ${why}`,
      remedy: 'go to the repository, or set SYNOD_PROJECT',
    });
    return;
  }
  if (project.source !== 'git') return;
  if (!isProblem(repository) && repository.toplevel === home) {
    warnings.push({
      warning: 'identity.home-repository',
      message: 'the repository is the home directory itself',
      remedy: 'go to the project, or set SYNOD_PROJECT',
    });
  } else if (IMPLAUSIBLE.has(project.value.toLowerCase()) || project.value === basename(home)) {
    warnings.push({
      warning: 'identity.implausible-project',
      message: `the project ${quoted(project.value)} is named after its folder, which looks accidental`,
      remedy: 'set SYNOD_PROJECT',
    });
  }
}

function overruled(told: IdentityPart, agent: string): IdentityWarning {
  return {
    warning: 'identity.overruled',
    message: `${told.from} says ${quoted(told.value)}, but the credential is that of ${quoted(agent)}`,
    remedy: `the hub goes by the credential; show another, or leave ${told.from} out`,
  };
}

function disagreement(first: IdentityPart, other: IdentityPart): IdentityWarning {
  return {
    warning: 'identity.disagreement',
    message: `${first.from} says ${quoted(first.value)} and ${other.from} says ${quoted(other.value)}`,
    remedy: `${first.from} counts; unset the other`,
  };
}

function notChosen(agent: string): IdentityWarning {
  return {
    warning: 'identity.not-chosen',
    message: `nobody chose a name, so it is ${quoted(agent)}, as for every other session of this user`,
    remedy: 'say --as or SYNOD_AGENT',
  };
}
