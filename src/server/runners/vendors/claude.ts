/**
 * The runner `claude`: Claude Code for one turn, `-p` with stream-json in and out. It has our MCP server and
 * no other, none of the user's settings and hooks, and its permission prompts come over the same
 * pipe (`--permission-prompt-tool stdio`), where each becomes a gate. The session goes on with `--resume`.
 */
import { isRefusal } from '../../../core/law/decider.ts';
import {
  CLAUDE_STREAM,
  claudeAnswer,
  claudeLack,
  claudePermission,
  claudeQuestion,
  claudeSays,
  QUESTION_TOOL,
} from '../../../vendor/claude-stream-json.ts';
import type { Permission } from '../../../vendor/permission.ts';
import { type Ask, createProbe } from '../../../vendor/probe.ts';
import { brief, parseLine } from '../../../vendor/spoken.ts';
import { UNANSWERED } from '../../../vendor/unanswered.ts';
import type { SpecOf } from '../../../wire/operations/runner-spec.ts';
import { toolNameFor } from '../../../wire/tool-names.ts';
import { planTurn } from '../guarded-command.ts';
import { writeMcpConfig } from '../mcp-config.ts';
import type { TurnJob, TurnResult } from '../runner.ts';
import { startTurnProcess } from '../turn-process.ts';
import { failedResult } from '../turn-result.ts';
import { createClaudeReader } from './claude-stream.ts';
import { numberOption, textOption } from './options.ts';
import { settingsTrouble } from './project-settings.ts';
import { signedIn, signInOf } from './sign-in.ts';
import { endingOf } from './turn-ending.ts';
import { turnPrompt } from './turn-prompt.ts';
import {
  checkVendor,
  commandOf,
  describeVendor,
  leave,
  permissionsOf,
  type VendorParts,
  type VendorRunner,
} from './vendor-runner.ts';

type ClaudeSpec = SpecOf<'claude'>;
type ClaudeJob = TurnJob<ClaudeSpec>;
type Fields = Readonly<Record<string, unknown>>;

const TOOL_PREFIX = toolNameFor('claude', '');
const STEPS_MAX = 100;
/** They would have it woken by the clock, which nothing here is. */
const TIMED_TOOLS = 'CronCreate,ScheduleWakeup';

export function createClaudeRunner(parts: VendorParts): VendorRunner<ClaudeSpec> {
  const probe = createProbe(parts.env, (ask) =>
    claudeLack(ask, argumentsOf({ kind: 'claude', model: 'x', options: PROBED }, 'x', 'x')),
  );
  return {
    kind: 'claude',
    check: (spec) => checkVendor(spec, probe),
    describe: (spec) => describeVendor(spec, probe, account),
    run: (job) => run(job, parts),
  };
}

async function account(ask: Ask): Promise<string | null> {
  const { text } = await ask(['auth', 'status']);
  const [, status = '{}'] = /(\{[^}]*\})/.exec(text) ?? [];
  const { loggedIn, authMethod } = parseLine(status) ?? {};
  if (loggedIn === undefined) return null;
  return loggedIn === true ? `by ${String(authMethod)}` : 'and it is not: run claude auth login';
}

const PROBED = {
  ...{ max_turns: 1, max_budget_usd: 1, effort: 'low', instructions: 'x' },
  ...{ allowed_tools: 'x', disallowed_tools: 'x', settings: 'project' },
};

function argumentsOf(spec: ClaudeSpec, mcpConfig: string, resume: string | null): string[] {
  const option = (flag: string, value: string | number | null): string[] =>
    value === null ? [] : [flag, String(value)];
  const ours = `${TOOL_PREFIX}*`;
  const allowed = textOption(spec, 'allowed_tools');
  const denied = textOption(spec, 'disallowed_tools');
  return [
    ...CLAUDE_STREAM,
    ...['--strict-mcp-config', '--mcp-config', mcpConfig],
    ...['--permission-mode', textOption(spec, 'permission_mode') ?? 'default'],
    ...['--setting-sources', textOption(spec, 'settings') === 'project' ? 'project' : ''],
    ...['--allowedTools', allowed === null ? ours : `${ours},${allowed}`],
    ...['--disallowedTools', denied === null ? TIMED_TOOLS : `${TIMED_TOOLS},${denied}`],
    ...option('--max-turns', numberOption(spec, 'max_turns') ?? STEPS_MAX),
    ...option('--max-budget-usd', numberOption(spec, 'max_budget_usd')),
    ...option('--model', spec.model ?? null),
    ...option('--effort', textOption(spec, 'effort')),
    ...option('--append-system-prompt', textOption(spec, 'instructions')),
    ...option('--resume', resume),
  ];
}

async function run(job: ClaudeJob, parts: VendorParts): Promise<TurnResult> {
  const signed = await signedIn(job.spec, job.env, parts.env);
  if (isRefusal(signed)) return failedResult(signed.message);
  if (signed.secret !== null) job.transcript.hide(signed.secret);
  if (textOption(job.spec, 'settings') === 'project') {
    const trouble = await settingsTrouble(job.cwd);
    if (trouble !== null) return failedResult(trouble);
  }
  const config = await writeMcpConfig(job);
  const first = await runOnce(job, parts, signed.env, config, job.sessionRef);
  if (first !== 'no-session') return first;
  job.transcript.append('the session before is gone; a new one begins', 'note');
  const second = await runOnce(job, parts, signed.env, config, null);
  return second === 'no-session' ? failedResult('no session could be begun') : second;
}

async function runOnce(
  job: ClaudeJob,
  parts: VendorParts,
  env: Readonly<Record<string, string>>,
  mcpConfig: string,
  resume: string | null,
): Promise<TurnResult | 'no-session'> {
  const { spec, transcript, signal } = job;
  const argv = [...commandOf(spec), ...argumentsOf(spec, mcpConfig, resume)];
  const plan = await planTurn(job, argv, env);
  if (isRefusal(plan)) return failedResult(plan.message);
  const now = parts.now ?? Date.now;
  const reader = createClaudeReader((text) => transcript.append(text), now, job.spent);
  const permissions = permissionsOf(job);
  const prompt = turnPrompt(job, TOOL_PREFIX, now());
  let hasBegun = false;
  let wrongBill: string | null = null;
  const claude = startTurnProcess({
    ...{ argv: plan.argv, cwd: plan.cwd, env: plan.env, started: job.started },
    ...{ transcript, signal, record: parts.record ?? null },
    ...(parts.graceMs !== undefined && { graceMs: parts.graceMs }),
    onLine(line) {
      const news = reader.read(line);
      if (news === null) return;
      if (news.kind === 'end') leave(claude);
      else if (news.kind === 'unknown-ask') claude.write(claudeAnswer(news.id, null));
      else if (news.kind === 'ask') void decide(news.id, news.tool, news.input);
      else {
        hasBegun = true;
        wrongBill = billTrouble(spec, news.keySource);
        if (wrongBill !== null) claude.stop(wrongBill);
      }
    },
  });

  async function decide(id: string, tool: string, input: Fields): Promise<void> {
    const permission =
      tool === QUESTION_TOOL
        ? await putQuestion(job, input)
        : await permissions.ask(claudePermission(tool, input));
    claude.write(claudeAnswer(id, { ...permission, input }));
  }

  claude.write(claudeSays(prompt.text));
  const { problem, stderr, isStopped } = await claude.ended;
  await plan.close();
  const learnt = reader.learnt();
  if (wrongBill !== null) return failedResult(wrongBill);
  const isLost = /No conversation found/i.test([learnt.trouble?.note, ...stderr].join('\n'));
  if (resume !== null && !isStopped && isLost) return 'no-session';
  const result = endingOf(learnt, prompt.shown, hasBegun ? problem : null);
  if (learnt.finalText !== null || learnt.trouble !== null) return result;
  return { ...result, ...failedResult(problem ?? 'no result', stderr) };
}

/** It is told before the model is asked which account pays; another than was set ends the turn. */
function billTrouble(spec: ClaudeSpec, keySource: string): string | null {
  const isKey = keySource !== 'none' && keySource !== 'oauth';
  const signIn = signInOf(spec);
  if (isKey === (signIn === 'api')) return null;
  return isKey
    ? `it would bill an API key (${keySource}), and sign_in is "subscription"; nothing was asked of the model`
    : 'it found no API key, and sign_in is "api"; nothing was asked of the model';
}

/** Nobody can answer within the turn: the question goes to the docket, and the agent is told so. */
async function putQuestion(job: ClaudeJob, input: Fields): Promise<Permission> {
  await job.raise(brief(claudeQuestion(input))).catch(() => {});
  return { isApproved: false, state: 'withdrawn', words: UNANSWERED };
}
