/** Team files: the sample that ships is read whole, and every flaw is told with its line before anything is done. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { CliError } from './failure.ts';
import { readTeam } from './team-file.ts';

const SAMPLE = fileURLToPath(new URL('../../examples/team/team.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'synod-team-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(text: string): string {
  const path = join(folder, 'team.yaml');
  writeFileSync(path, text);
  return path;
}

/** Each problem without the folder: `LINE:COLUMN: words`. */
function problemsOf(text: string): string[] {
  const path = write(text);
  try {
    readTeam(path);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    expect(error.code).toBe('team.invalid');
    const { problems } = error.envelope.detail as { problems: string[] };
    return problems.map((one) => one.replace(`${path}:`, ''));
  }
  throw new Error('it was read');
}

test('[TE1] the sample that ships has two vendors and one model, and is read whole', () => {
  const team = readTeam(SAMPLE);
  expect(team.name).toBe('pond');
  const kinds = team.agents.map(({ runner }) =>
    typeof runner === 'object' ? runner?.kind : runner,
  );
  expect(kinds).toEqual(['claude', 'codex', 'model']);
  expect(team.agents.map(({ roles }) => roles)).toEqual([['builder'], ['reviewer'], ['writer']]);
  // What an agent is told goes where its runner has a place for it, and paths begin at the file.
  const [heron, , newt] = team.agents;
  expect(heron?.runner).toMatchObject({
    cwd: join(SAMPLE, '..'),
    options: { instructions: expect.stringContaining('small steps') },
  });
  expect(newt?.runner).toMatchObject({ system_prompt: expect.stringContaining('plain sentence') });
  expect(team.plan.map(({ id }) => id)).toEqual(['pond-1', 'pond-2', 'pond-3']);
});

const HEAD = 'team: t\nagents:\n  ada:\n    runner: { kind: claude }\n    follows: [x]\n';

test.each([
  ['a tab', 'team: t\nagents:\n\tada: {}\n', /^3:1: .*[Tt]ab/],
  ['a key twice', 'team: t\nteam: u\n', /^2:1: .*unique/],
  [
    'a misspelt field',
    `${HEAD}    folows: [x]\n`,
    /^6:5: agents\.ada\.folows: there is no such field; did you mean follows\?$/,
  ],
  [
    'a runner nobody has',
    'team: t\nagents:\n  ada:\n    runner: { kind: claud }\n    follows: [x]\n',
    /^4:21: agents\.ada\.runner\.kind: there is no runner "claud"; there are command, rule, model/,
  ],
  [
    'a field of a runner',
    'team: t\nagents:\n  ada:\n    runner:\n      kind: model\n      model: x\n      base_url: nowhere\n    follows: [x]\n',
    /^7:17: agents\.ada\.runner\.base_url: /,
  ],
  [
    'a secret in a variable',
    'team: t\nagents:\n  ada:\n    runner:\n      kind: codex\n      env: { OPENAI_API_KEY: sk-1 }\n    follows: [x]\n',
    /^6:7: agents\.ada\.runner\.env: a variable looks like a secret/,
  ],
  [
    'neither runner nor process',
    'team: t\nagents:\n  ada:\n    role: x\n',
    /^3:3: agents\.ada: say how it is run/,
  ],
  [
    'both of them',
    `${HEAD}    process: { command: [x] }\n`,
    /^3:3: agents\.ada: say how it is run/,
  ],
  [
    'a name that is a sentence',
    'team: t\nagents:\n  "ada is kind":\n    runner: { kind: claude }\n',
    /^3:3: agents\.ada is kind: /,
  ],
  [
    'nobody to follow',
    'team: t\nagents:\n  ada:\n    runner: { kind: claude }\n',
    /^3:3: agents\.ada\.follows: it follows at least one channel/,
  ],
  ['no agents', 'team: t\nagents: {}\n', /^2:1: agents: a team has at least one agent$/],
  ['a list', '- a\n', /^1:1: the file: /],
  [
    'a team without a name',
    'agents:\n  ada: { follows: [x], runner: { kind: claude } }\n',
    /^1:1: team: /,
  ],
  [
    'a task twice',
    `${HEAD}plan:\n  - { id: a, title: A }\n  - { id: a, title: B }\n`,
    /^8:11: plan\.1\.id: there is a task a above$/,
  ],
  [
    'a task that is not there',
    `${HEAD}plan:\n  - { id: a, title: A, needs: [b] }\n`,
    /^7:32: plan\.0\.needs\.0: there is no task b here$/,
  ],
  [
    'a circle',
    `${HEAD}plan:\n  - { id: a, title: A, needs: [b] }\n  - { id: b, title: B, needs: [a] }\n`,
    /^7:24: plan\.0\.needs: in a circle: a → b → a$/,
  ],
  [
    'an owner who is not there',
    `${HEAD}plan:\n  - { id: a, title: A, owner: bob }\n`,
    /^7:31: plan\.0\.owner: bob is no agent of this team$/,
  ],
  [
    'what a rule cannot be told',
    'team: t\nagents:\n  ada:\n    about: be kind\n    runner: { kind: rule, rules: [] }\n    follows: [x]\n',
    /^4:12: agents\.ada\.about: a runner of this kind is told nothing/,
  ],
  [
    'a limit of a process',
    'team: t\nagents:\n  ada:\n    process:\n      command: [x]\n      limits: { memory: 5 }\n',
    /^6:17: agents\.ada\.process\.limits\.memory: /,
  ],
  [
    'a pattern that is none',
    'team: t\nagents:\n  ada:\n    process: { command: [x], ready: "(" }\n',
    /^4:37: agents\.ada\.process\.ready: it is no regular expression$/,
  ],
  [
    'a prototype',
    `${HEAD}  __proto__:\n    runner: { kind: claude }\n`,
    /^6:3: __proto__ is no name$/,
  ],
])('[TE1] %s is refused with its line', (_what, text, words) => {
  const [first, ...rest] = problemsOf(text);
  expect(first).toMatch(words);
  expect(rest).toEqual([]);
});

test('[TE1] all that is wrong is told at once, in order', () => {
  expect(problemsOf('')).toEqual(['1:1: team: it is missing', '1:1: agents: it is missing']);
  const problems = problemsOf(
    'team: "a b"\nchannels: { x: 5 }\nagents:\n  ada: { rol: x, follows: [x], runner: { kind: claude } }\n',
  );
  expect(problems.map((one) => one.split(':').slice(0, 1).join(''))).toEqual(['1', '2', '4']);
});

test('[TE1] names that stand for names without end are refused, and so is a file that is too large', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (let n = 0; n < 6; n++) {
    const last = String.fromCharCode(97 + n);
    const next = String.fromCharCode(98 + n);
    bomb.push(`${next}: &${next} [${Array(10).fill(`*${last}`).join(', ')}]`);
  }
  expect(problemsOf(bomb.join('\n'))[0]).toMatch(/alias/i);
  expect(() => readTeam(write(`# ${'x'.repeat(1024 * 1024)}\n`))).toThrow(/larger than/);
  expect(() => readTeam(join(folder, 'none.yaml'))).toThrow(/cannot be read/);
});
