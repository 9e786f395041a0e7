/**
 * The vendors' own programs as runners, against a model on loopback: each asks for permission three times,
 * and is told apart whether a person approved, denied or did not answer. The model's API also refuses, as
 * it does when a quota is used up or it is overloaded, and a budget runs out.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { createJob } from '../../src/server/runners/job.fixture.ts';
import type { GateAsk, TurnJob, TurnResult } from '../../src/server/runners/runner.ts';
import { createAcpRunner } from '../../src/server/runners/vendors/acp.ts';
import { createClaudeRunner } from '../../src/server/runners/vendors/claude.ts';
import { createCodexRunner } from '../../src/server/runners/vendors/codex.ts';
import type { VendorSpec } from '../../src/server/runners/vendors/sign-in.ts';
import type { GateOutcome } from '../../src/wire/gate-words.ts';
import type { SpecOf } from '../../src/wire/operations/runner-spec.ts';
import { type CliName, cliPath } from './clis.ts';
import { type ModelServer, openModelServer } from './model-server.ts';
import { openScene, type Scene } from './scene.ts';
import { type CallStep, type FailStep, type Script, type Step, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import { DUMMY_KEY } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { gemini } from './vendors/gemini.ts';

let scene: Scene | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
});

interface Played {
  readonly result: TurnResult;
  readonly asked: readonly GateAsk[];
  readonly said: readonly string[];
  readonly model: ModelServer;
  readonly scene: Scene;
  /** The same agent, once more. */
  readonly again: (script: Script, more?: Partial<TurnJob>) => Promise<Played>;
}

interface Side {
  readonly cli: CliName;
  readonly spec: (model: string, secret: string) => VendorSpec;
  readonly run: (spec: VendorSpec, job: TurnJob) => Promise<TurnResult>;
  readonly prepare?: (scene: Scene, model: string) => void;
  /** The model looks at a file, which asks nobody. */
  readonly looks: (path: string) => CallStep;
  /** The model writes a file where it may not without asking. */
  readonly writes: (path: string) => Step;
  readonly exhausted: FailStep;
  readonly overloaded: FailStep;
}

interface HubFile {
  readonly url: string;
}

const RESET = 1_900_000_000;

const claudeSide: Side = {
  cli: 'claude',
  spec: (model, secret) => ({
    ...{ kind: 'claude', command: [cliPath('claude')], sign_in: 'api', secret: { file: secret } },
    env: { ANTHROPIC_BASE_URL: model, CLAUDE_CODE_MAX_RETRIES: '1' },
  }),
  run: (_spec, job) =>
    createClaudeRunner({ env: process.env }).run(job as TurnJob<SpecOf<'claude'>>),
  looks: claude.lookAt,
  writes: (path) => ({ call: 'Bash', args: { command: `touch ${path}`, description: 'a file' } }),
  exhausted: {
    fail: 429,
    body: { type: 'error', error: { type: 'rate_limit_error', message: 'limit reached' } },
  },
  overloaded: {
    fail: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
};

const codexSide: Side = {
  cli: 'codex',
  spec: (model, secret) => ({
    ...{ kind: 'codex', command: [cliPath('codex')], sign_in: 'api', secret: { file: secret } },
    ...{ env: { OPENAI_BASE_URL: `${model}/v1` }, model: 'scripted' },
  }),
  run: (_spec, job) => createCodexRunner({ env: process.env }).run(job as TurnJob<SpecOf<'codex'>>),
  looks: codex.lookAt,
  writes: (path) => ({
    call: 'exec_command',
    args: { cmd: `touch ${path}`, sandbox_permissions: 'require_escalated', justification: 'so' },
  }),
  exhausted: {
    fail: 429,
    headers: { 'x-codex-primary-used-percent': '100', 'x-codex-primary-reset-at': String(RESET) },
    body: { error: { type: 'usage_limit_reached', message: 'limit reached', resets_at: RESET } },
  },
  overloaded: {
    fail: 503,
    body: { error: { code: 'server_is_overloaded', message: 'Overloaded' } },
  },
};

const acpSide: Side = {
  cli: 'gemini',
  prepare: (where, model) => gemini.configure(where, { model }),
  spec: (model, secret) => ({
    ...{ kind: 'acp', command: [cliPath('gemini'), '--acp', '-m', 'gemini-2.5-pro'] },
    ...{ sign_in: 'api', secret: { file: secret }, env: { GOOGLE_GEMINI_BASE_URL: model } },
  }),
  run: (_spec, job) => createAcpRunner({ env: process.env }).run(job as TurnJob<SpecOf<'acp'>>),
  looks: gemini.lookAt,
  writes: (path) => ({
    call: 'run_shell_command',
    args: { command: `touch ${path}`, description: 'a file' },
  }),
  exhausted: {
    fail: 429,
    body: {
      error: {
        ...{ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'You exceeded your current quota.' },
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
          },
        ],
      },
    },
  },
  overloaded: { fail: 503, body: { error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } } },
};

async function play(
  side: Side,
  script: Script,
  gates: readonly GateOutcome[] = [],
  options: VendorSpec['options'] = {},
  hub: TurnJob['hub'] = { url: 'http://127.0.0.1:1', token: 'syt_secret' },
): Promise<Played> {
  const where = scene ?? openScene();
  scene = where;
  const model = await openModelServer();
  where.atEnd(() => model.close());
  side.prepare?.(where, model.url);
  const secret = where.write('secret', `${DUMMY_KEY}\n`, 0o600);
  const spec = { ...side.spec(model.url, secret), options };
  const again = async (next: Script, more: Partial<TurnJob> = {}): Promise<Played> => {
    const asked: GateAsk[] = [];
    model.play(next);
    const { job, said } = createJob<VendorSpec>(where.project, spec, {
      env: { ...where.env(), ...spec.env, SYNOD_TOKEN: hub.token },
      hub,
      async askGate(ask) {
        asked.push(ask);
        return gates[asked.length - 1] ?? { state: 'expired', by: null, reason: null };
      },
      ...more,
    } as Partial<TurnJob<VendorSpec>>);
    const result = await side.run(spec, job);
    return { result, asked, said, model, scene: where, again };
  };
  return again(script);
}

const toldTo = ({ model }: Played): string =>
  model
    .turns()
    .slice(-1)
    .map((turn) => `${textShown(turn, 'tool')}\n${textShown(turn, 'user')}`)
    .join('');

describe.each([claudeSide, codexSide, acpSide])('$cli', (side) => {
  const needs = [side.cli];

  liveTest(
    '[RV3] approved, denied and expired are told apart by what the agent is told',
    { needs },
    async () => {
      const files = ['a.txt', 'b.txt', 'c.txt'];
      const played = await play(
        side,
        [...files.map(side.writes), { say: 'all tried' }],
        [
          { state: 'approved', by: 'olga', reason: null },
          { state: 'denied', by: 'olga', reason: 'not on a Friday' },
          { state: 'expired', by: null, reason: null },
        ],
      );
      const { result, asked, said } = played;
      expect(result, said.join('\n')).toMatchObject({ outcome: 'done' });
      expect(asked.map(({ subject }) => subject)).toEqual(
        files.map((file) => expect.stringContaining(`touch ${file}`)),
      );
      const there = files.map((file) => existsSync(join(played.scene.project, file)));
      expect(there).toEqual([true, false, false]);
      const told = toldTo(played);
      expect(told).toContain('Denied by "olga"');
      expect(told).toContain('not on a Friday');
      expect(told).toContain('nobody answered in time');
      expect(told.indexOf('Denied by')).toBeLessThan(told.indexOf('nobody answered'));
      expect(told).not.toContain('Denied by a person');
    },
  );

  liveTest(
    '[RV1] the messages are quoted, the tokens counted, and the session goes on',
    { needs },
    async () => {
      const first = await play(side, [{ say: 'first words' }]);
      const { result, model } = first;
      expect(result, first.said.join('\n')).toMatchObject({
        ...{ outcome: 'done', consumed: ['m-1', 'm-2'], note: 'first words' },
        cost: { tokens_in: 10, tokens_out: 10 },
      });
      const [turn] = model.turns();
      const shown = textShown(turn as NonNullable<typeof turn>, 'user');
      expect(shown).toContain('--- message 1: from "bob" (agent, trust: standard) on "team/plan"');
      expect(shown).toContain('| what is the time?');
      const sessionRef = result.session_ref as string;
      const second = await first.again([{ say: '{"outcome":"nothing"}' }], { sessionRef });
      expect(second.result, second.said.join('\n')).toMatchObject({ outcome: 'nothing' });
      // Gemini CLI keeps a conversation only when it finds it worth keeping, and this one is short.
      if (side.cli !== 'gemini') {
        expect(second.result.session_ref).toBe(sessionRef);
        const again = second.model.turns().at(-1) as NonNullable<typeof turn>;
        expect(textShown(again)).toContain('first words');
      }
      const third = await first.again([{ say: 'fresh' }], {
        sessionRef: '00000000-0000-4000-8000-000000000000',
      });
      expect(third.result, third.said.join('\n')).toMatchObject({ outcome: 'done', note: 'fresh' });
    },
  );

  liveTest('[RV1] it answers through the hub, with the token of the turn', { needs }, async () => {
    const where = openScene();
    scene = where;
    await where.synod('up', '--port', '0');
    await where.synod('subscribe', 'team/plan', '--as', 'bob');
    const made = await where.synod('token', 'create', 'ada', '--json');
    const { token } = JSON.parse(made.stdout) as { readonly token: string };
    const { url } = JSON.parse(readFileSync(join(where.hub, 'hub.json'), 'utf8')) as HubFile;
    const hub = { url, token };
    const tools = { claude: 'mcp__synod__channels__send', codex: 'channels__send' };
    const send = side.cli in tools ? tools[side.cli as 'claude'] : 'mcp_synod_channels__send';
    const args = { channel: 'team/plan', body: { text: 'it is noon' } };
    where.write('project/notes.txt', 'notes\n');
    // Our tools come a moment after the first request; until then it looks at something else.
    const meanwhile = side.looks(join(where.project, 'notes.txt'));
    const script = [{ call: send, args, meanwhile }, { say: 'told' }];
    const played = await play(side, script, [], {}, hub);
    expect(played.result, played.said.join('\n')).toMatchObject({ outcome: 'done' });
    expect(played.asked).toEqual([]);
    const { stdout } = await where.synod('recv', '--as', 'bob', '--json');
    expect(stdout, played.said.join('\n')).toContain('it is noon');
    expect(stdout).toContain('"ada"');
  });

  liveTest('[RV2] a quota that is used up is told with its end', { needs }, async () => {
    const { result } = await play(side, () => side.exhausted);
    expect(result).toMatchObject({ outcome: 'failed', quota: { kind: 'exhausted' } });
    if (side.cli === 'codex') expect(result.quota?.until).toBe(RESET * 1_000);
  });

  // Gemini CLI tries ten times and says nothing meanwhile.
  liveTest(
    '[RV2] overload is told apart from it',
    { needs, skip: side.cli === 'gemini' },
    async () => {
      const { result } = await play(side, () => side.overloaded);
      expect(result).toMatchObject({ outcome: 'failed', quota: { kind: 'overloaded' } });
    },
  );

  liveTest('[RV2] a budget that is spent asks a person', { needs }, async () => {
    const limit = side.cli === 'claude' ? { max_budget_usd: 0.0005 } : { max_tokens: 25 };
    const look: Step =
      side.cli === 'claude'
        ? { call: 'Bash', args: { command: 'true', description: 'nothing' } }
        : side.cli === 'codex'
          ? { call: 'exec_command', args: { cmd: 'true' } }
          : { call: 'list_directory', args: { dir_path: '.' } };
    const { result } = await play(side, [look, look, look, look, { say: 'done' }], [], limit);
    expect(result).toMatchObject({ outcome: 'gave_up' });
    expect(result.note).toContain('budget.exhausted');
  });
});
