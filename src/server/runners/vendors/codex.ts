/**
 * The runner `codex`: one turn of a thread in Codex's app-server, which, unlike `codex exec`, asks before it
 * does what its sandbox forbids. Each such request becomes a gate; a refusal is steered into
 * the turn with who, why or that nobody answered, because Codex itself only says "rejected by user". The
 * user's own MCP servers and hooks are off, and approvals never go to an automatic reviewer.
 */
import { isRefusal } from '../../../core/law/decider.ts';
import {
  answerCodex,
  CODEX_HELLO,
  CODEX_THREAD,
  codexLack,
  threadOf,
} from '../../../vendor/codex-app-server.ts';
import { createLineRpc, type LineRpc, RpcFailure } from '../../../vendor/line-rpc.ts';
import { type Ask, createProbe } from '../../../vendor/probe.ts';
import { brief } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import type { SpecOf } from '../../../wire/operations/runner-spec.ts';
import { planTurn } from '../guarded-command.ts';
import type { TurnJob, TurnResult } from '../runner.ts';
import { startTurnProcess } from '../turn-process.ts';
import { failedResult } from '../turn-result.ts';
import { createCodexReader } from './codex-stream.ts';
import { numberOption, textOption } from './options.ts';
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

type CodexSpec = SpecOf<'codex'>;
type CodexJob = TurnJob<CodexSpec>;

/** Not the name that `synod install` registers, whose table it would be mixed with. */
const SERVER = 'synod_turn';
const TOOL_PREFIX = `mcp__${SERVER}__`;
const TOKEN_VARIABLE = 'SYNOD_TOKEN';
/** With a key, the endpoint is a provider of its own, so that no stored sign-in is ever used. */
const PROVIDER = 'synod_api';
const OPENAI_URL = 'https://api.openai.com/v1';
const USED_CALLS = [
  'thread/start',
  'thread/resume',
  'turn/start',
  'turn/steer',
  'turn/interrupt',
  'account/read',
  'config/read',
];

export function createCodexRunner(parts: VendorParts): VendorRunner<CodexSpec> {
  const probe = createProbe(parts.env, (ask) => codexLack(ask, USED_CALLS));
  return {
    kind: 'codex',
    check: (spec) => checkVendor(spec, probe),
    describe: (spec) => describeVendor(spec, probe, account),
    run: (job) => run(job, parts),
  };
}

async function account(ask: Ask): Promise<string | null> {
  const { text } = await ask(['login', 'status']);
  const [said] = /(?:Logged in using|Not logged in)[^\n]*/.exec(text) ?? [];
  return said === undefined ? null : brief(said);
}

async function run(job: CodexJob, parts: VendorParts): Promise<TurnResult> {
  const { spec, transcript, signal } = job;
  const signed = await signedIn(spec, job.env, parts.env);
  if (isRefusal(signed)) return failedResult(signed.message);
  if (signed.secret !== null) transcript.hide(signed.secret);
  const argv = [...commandOf(spec), 'app-server', ...providerOf(spec, signed.env)];
  const plan = await planTurn(job, argv, signed.env);
  if (isRefusal(plan)) return failedResult(plan.message);
  const now = parts.now ?? Date.now;
  const reader = createCodexReader((text) => transcript.append(text), now, job.spent);
  const permissions = permissionsOf(job);
  const prompt = turnPrompt(job, TOOL_PREFIX, now());
  const limit = numberOption(spec, 'max_tokens');
  let threadId: string | null = null;
  const codex = startTurnProcess({
    ...{ argv: plan.argv, cwd: plan.cwd, env: plan.env, started: job.started },
    ...{ transcript, signal, record: parts.record ?? null },
    ...(parts.graceMs !== undefined && { graceMs: parts.graceMs }),
    onLine: (line) => rpc.hear(line),
  });
  const rpc = createLineRpc({
    write: (text) => codex.write(text),
    onText: (line) => transcript.append(brief(line)),
    // What it asks of a person becomes a gate; anything else is not answered here.
    onRequest: (method, params) =>
      answerCodex(method, params, {
        question: (text) => job.raise(text),
        permission: (ask) => permissions.ask(ask),
        changedBy: reader.changedBy,
        steer: (call) => rpc.call('turn/steer', call),
      }),
    onNotice(method, params) {
      reader.notice(method, params);
      if (limit === null || reader.tokens() <= limit || typeof params.turnId !== 'string') return;
      reader.trouble({ kind: 'budget', note: `it used ${reader.tokens()} of ${limit} tokens` });
      rpc.call('turn/interrupt', { threadId, turnId: params.turnId }).catch(() => {});
    },
  });
  const gone = codex.ended.then(({ problem }) => rpc.end(problem ?? 'Codex has ended'));
  let problem: string | null = null;
  try {
    await rpc.call('initialize', CODEX_HELLO);
    rpc.tell('initialized');
    await checkAccount(spec, rpc);
    threadId = await openThread(job, rpc, await settingsOf(job, rpc));
    await rpc.call('turn/start', { threadId, input: [{ type: 'text', text: prompt.text }] });
    await Promise.race([reader.over, gone]);
  } catch (error) {
    problem = (error as Error).message;
  }
  leave(codex);
  const end = await codex.ended;
  await plan.close();
  const learnt = reader.learnt(threadId);
  if (learnt.finalText !== null || learnt.trouble !== null)
    return endingOf(learnt, prompt.shown, null);
  const rest = endingOf(learnt, prompt.shown, null);
  return { ...rest, ...failedResult(problem ?? end.problem ?? 'no result', end.stderr) };
}

/** It says before the model is asked who pays; another than was set ends the turn. */
async function checkAccount(spec: CodexSpec, rpc: LineRpc): Promise<void> {
  if (signInOf(spec) === 'api') return;
  const { account } = await rpc.call('account/read', {});
  const type = isFields(account) ? String(account.type) : null;
  if (type === 'chatgpt') return;
  throw new Error(
    type === null
      ? 'Codex is not signed in, and sign_in is "subscription"; run: codex login'
      : `it would bill ${type}, and sign_in is "subscription"; nothing was asked of the model`,
  );
}

/** Only what the turn needs: our server with the turn's token, no other, and no hook of the user. */
async function settingsOf({ spec, hub }: CodexJob, rpc: LineRpc): Promise<Record<string, unknown>> {
  const { config } = await rpc.call('config/read', {});
  const servers = isFields(config) && isFields(config.mcp_servers) ? config.mcp_servers : {};
  const others = Object.keys(servers).filter((name) => name !== SERVER);
  const effort = textOption(spec, 'effort');
  return {
    ...Object.fromEntries(others.map((name) => [`mcp_servers.${quotedKey(name)}.enabled`, false])),
    [`mcp_servers.${SERVER}.url`]: `${hub.url}/mcp`,
    [`mcp_servers.${SERVER}.bearer_token_env_var`]: TOKEN_VARIABLE,
    [`mcp_servers.${SERVER}.default_tools_approval_mode`]: 'approve',
    'features.hooks': false,
    ...(effort !== null && { model_reasoning_effort: effort }),
  };
}

/** Whom the model is asked of: what the user's own configuration says does not count. */
function providerOf(spec: CodexSpec, env: Readonly<Record<string, string>>): string[] {
  const settings =
    signInOf(spec) === 'subscription'
      ? { model_provider: 'openai' }
      : {
          model_provider: PROVIDER,
          [`model_providers.${PROVIDER}.name`]: PROVIDER,
          [`model_providers.${PROVIDER}.base_url`]: env.OPENAI_BASE_URL ?? OPENAI_URL,
          [`model_providers.${PROVIDER}.env_key`]: 'OPENAI_API_KEY',
          [`model_providers.${PROVIDER}.wire_api`]: 'responses',
        };
  // A JSON string is a TOML string too.
  return Object.entries(settings).flatMap(([key, value]) => [
    '-c',
    `${key}=${JSON.stringify(value)}`,
  ]);
}

function quotedKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

async function openThread(
  { spec, cwd, sessionRef, transcript }: CodexJob,
  rpc: LineRpc,
  config: Record<string, unknown>,
): Promise<string> {
  const instructions = textOption(spec, 'instructions');
  const sandbox = textOption(spec, 'sandbox');
  const approvalPolicy = textOption(spec, 'approval_policy');
  const params = {
    ...{ ...CODEX_THREAD, cwd, config },
    ...(sandbox !== null && { sandbox }),
    ...(approvalPolicy !== null && { approvalPolicy }),
    ...(spec.model !== undefined && { model: spec.model }),
    ...(instructions !== null && { developerInstructions: instructions }),
  };
  if (sessionRef !== null) {
    try {
      return threadOf(await rpc.call('thread/resume', { ...params, threadId: sessionRef }));
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      transcript.append(
        `the thread before is gone (${brief(error.message)}); a new one begins`,
        'note',
      );
    }
  }
  return threadOf(await rpc.call('thread/start', params));
}
