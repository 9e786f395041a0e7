/**
 * Goal: any program is a runner, and whatever it does the turn has a result.
 * Method: shell scripts that answer, fail, lie and talk, run as a turn runs them.
 */
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Recordable } from '../../guard/decision-queue.ts';
import { findSandbox } from '../../guard/sandbox.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { createCommandRunner } from './command.ts';
import { createJob } from './job.fixture.ts';
import { runnerContract } from './runner.contract.ts';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'synod-command-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const runner = createCommandRunner({ graceMs: 50 });

async function run(script: string) {
  const { job, said } = createJob(cwd, sh(script));
  return { result: await runner.run(job), said };
}

const sh = (script: string): SpecOf<'command'> => ({
  kind: 'command',
  command: ['/bin/sh', '-c', script],
});

runnerContract<SpecOf<'command'>>({
  name: 'command',
  open: async () => ({
    runner,
    good: sh(`echo thinking; echo '{"outcome":"done"}'`),
    unusable: { spec: { kind: 'command', command: ['/no/such'] }, code: 'runner.unusable' },
    failing: sh('echo why >&2; exit 1'),
    hanging: sh(`trap '' TERM; while :; do sleep 1; done`),
    close: async () => {},
  }),
});

describe('a program as a runner', () => {
  test('[RU2][RU7] reads one JSON line and then the end, and has the hub in its environment', async () => {
    const { result } = await run(
      'cat > given.json; env > env.txt; cp "$SYNOD_MCP_CONFIG" mcp.json; ls -l "$SYNOD_MCP_CONFIG" > mode; echo \'{"outcome":"done"}\'',
    );
    expect(result).toEqual({ outcome: 'done' });
    const given = readFileSync(join(cwd, 'given.json'), 'utf8');
    expect(given.split('\n')).toHaveLength(2);
    expect(JSON.parse(given)).toEqual({
      turn: {
        ...{ turn_id: 't-1', epoch: 1, agent_id: 'ada', space: 'default', attempt: 1 },
        ...{ reason: { rule: 'direct', message_ids: ['m-1', 'm-2'] }, after_restart: false },
      },
      messages: [
        expect.objectContaining({ message_id: 'm-1', channel: 'team/plan', sender: 'bob' }),
        expect.objectContaining({ message_id: 'm-2', kind: 'agent', trust: 'standard' }),
      ],
      hub: { url: 'http://127.0.0.1:1', token: 'syt_secret' },
      session_ref: null,
    });
    const env = readFileSync(join(cwd, 'env.txt'), 'utf8');
    for (const line of ['SYNOD_AGENT=ada', 'SYNOD_TURN=t-1', 'SYNOD_TOKEN=syt_secret']) {
      expect(env).toContain(line);
    }
    expect(JSON.parse(readFileSync(join(cwd, 'mcp.json'), 'utf8'))).toEqual({
      mcpServers: {
        synod: {
          ...{ type: 'http', url: 'http://127.0.0.1:1/mcp' },
          headers: { authorization: 'Bearer syt_secret' },
        },
      },
    });
    expect(readFileSync(join(cwd, 'mode'), 'utf8')).toMatch(/^-rw-------/);
  });

  test('[RU2] the last JSON line is the result, and a line that is not JSON is text', async () => {
    const { result, said } = await run(
      `echo thinking; echo '{"outcome":"failed"}'; echo '{"outcome":"done","note":"ok","replies":[{"reply_to":"m-1","body":"hi"}]}'; echo '{oops'; echo bye`,
    );
    expect(result).toEqual({
      ...{ outcome: 'done', note: 'ok' },
      replies: [{ reply_to: 'm-1', body: { text: 'hi' } }],
    });
    expect(said).toContain('thinking');
    expect(said).toContain('{oops');
  });

  test.each([
    ['no line at all', 'exit 0', 'no result'],
    ['text alone', 'echo done', 'no result'],
    ['a list', `echo '[1]'`, 'no result'],
    [
      'another code than 0',
      `echo '{"outcome":"done"}'; echo why >&2; exit 4`,
      'it exited with code 4\nwhy',
    ],
    ['no outcome', `echo '{"note":"x"}'`, /^the result cannot be used: outcome: /],
    ['an unknown outcome', `echo '{"outcome":"great"}'`, /^the result cannot be used: outcome: /],
    [
      'a message it was not given',
      `echo '{"outcome":"done","consumed":["m-9"]}'`,
      /consumed\.0: the turn was not given/,
    ],
    ['a negative cost', `echo '{"outcome":"done","cost":{"usd":-1}}'`, /cost\.usd/],
    [
      'an answer to nowhere',
      `echo '{"outcome":"done","replies":[{"reply_to":"m-9","body":"x"}]}'`,
      /replies\.0\.channel/,
    ],
  ])('[RU3] with %s it has failed, and says why', async (_, script, note) => {
    const { result } = await run(script);
    expect(result.outcome).toBe('failed');
    if (typeof note === 'string') expect(result.note).toBe(note);
    else expect(result.note).toMatch(note);
  });

  test.each([
    ['no-such-program-x', /no program "no-such-program-x" on the PATH/],
    ['./not-there', /no file that can be executed/],
    ['/etc/passwd', /no file that can be executed/],
  ])('[RU1] %s is refused when it is configured', async (program, message) => {
    const refusal = await runner.check({ kind: 'command', command: [program] });
    expect(refusal).toMatchObject({ refused: 'runner.unusable', detail: { field: 'command' } });
    expect(refusal?.message).toMatch(message);
    expect(await runner.check({ kind: 'command', command: ['sh'] })).toBeNull();
  });
});

const { isThere, why } = await findSandbox();
describe.skipIf(!isThere)(`under a policy (${why})`, () => {
  const secret = realpathSync(mkdtempSync(join(tmpdir(), 'synod-command-secret-')));
  afterAll(() => rmSync(secret, { recursive: true, force: true }));
  writeFileSync(join(secret, 'key'), 'sk-1');
  writeFileSync(join(secret, 'open'), 'to be read');
  const policed = (script: string, policy: SpecOf<'command'>['policy'] = {}) => {
    const told: Recordable[] = [];
    const spec = { ...sh(script), policy };
    const { job, said } = createJob(cwd, spec, { decided: (entry) => void told.push(entry) });
    return { job, said, told };
  };

  test('[RU24] a turn sees its folder, its configuration and what the policy allows', async () => {
    const { job, told } = policed(
      `cat ${secret}/open > seen; cat ${secret}/key >> seen; cat > given; ` +
        'test -r "$SYNOD_MCP_CONFIG" && echo mcp >> seen; echo "$SYNOD_TOKEN" >> seen; ' +
        'echo "$HTTP_PROXY" >> seen; touch /usr/x; echo \'{"outcome":"done"}\'',
      { read: [join(secret, 'open')] },
    );
    expect(await runner.run(job)).toEqual({ outcome: 'done' });
    const seen = readFileSync(join(cwd, 'seen'), 'utf8').split('\n');
    expect(seen.slice(0, 3)).toEqual([
      'to be readmcp',
      'syt_secret',
      expect.stringMatching(/^http:/),
    ]);
    expect(JSON.parse(readFileSync(join(cwd, 'given'), 'utf8'))).toHaveProperty('messages');
    expect(existsSync('/usr/x')).toBe(false);
    expect(told).toMatchObject([{ kind: 'execute', allowed: true, enforcement: 'os', as: 'ada' }]);
  });

  test('[RU24] what cannot be held is refused when it is configured', async () => {
    const check = (policy: Record<string, unknown>) => runner.check({ ...sh('true'), policy });
    expect(await check({ read: ['/srv'] })).toBeNull();
    expect(await check({ reed: [] })).toMatchObject({
      refused: 'runner.unusable',
      message: expect.stringContaining('no field "reed"'),
    });
    expect(await check({ execute: [] })).toMatchObject({
      message: expect.stringContaining('leave it out'),
    });
  });
});
