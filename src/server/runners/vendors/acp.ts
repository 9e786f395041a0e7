/**
 * The runner `acp`: one turn of any agent that speaks the Agent Client Protocol over its standard input
 * and output; Gemini CLI is one. `session/request_permission` becomes a gate. The protocol tells the agent
 * no reason for a refusal, so that it comes as a prompt of its own afterwards. The agent is given our MCP
 * server, and neither files nor terminals of ours.
 */
import { basename } from 'node:path';
import { isRefusal } from '../../../core/law/decider.ts';
import {
  ACP_HELLO,
  AUTH_REQUIRED,
  acpAsk,
  acpCan,
  acpLack,
  greetAcp,
} from '../../../vendor/acp-agent.ts';
import { createReplay } from '../../../vendor/acp-replay.ts';
import { createLineRpc, type LineRpc, type Params, RpcFailure } from '../../../vendor/line-rpc.ts';
import type { Permission, Permissions } from '../../../vendor/permission.ts';
import { createProbe } from '../../../vendor/probe.ts';
import { brief } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import type { SpecOf } from '../../../wire/operations/runner-spec.ts';
import { SERVER_NAME, toolNameFor } from '../../../wire/tool-names.ts';
import { planTurn } from '../guarded-command.ts';
import type { TurnJob, TurnResult } from '../runner.ts';
import { startTurnProcess } from '../turn-process.ts';
import { failedResult } from '../turn-result.ts';
import { type AcpReader, createAcpReader } from './acp-stream.ts';
import { numberOption, textOption } from './options.ts';
import { signedIn } from './sign-in.ts';
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

type AcpSpec = SpecOf<'acp'>;
type AcpJob = TurnJob<AcpSpec>;

const TOOL_PREFIX = toolNameFor('gemini', '');
/** How often it is told of refusals afterwards. */
const TELLINGS_MAX = 3;

export function createAcpRunner(parts: VendorParts): VendorRunner<AcpSpec> {
  const probe = createProbe(parts.env, async (ask) => lackOf(await greetAcp(ask)));
  return {
    kind: 'acp',
    check: (spec) => checkVendor(spec, probe),
    describe: (spec) => describeVendor(spec, probe),
    run: (job) => run(job, parts),
  };
}

function lackOf(hello: Params | null): string | null {
  const lack = acpLack(hello);
  if (lack !== null || hello === null) return lack;
  return acpCan(hello, 'mcpCapabilities.http')
    ? null
    : 'takes no MCP server over HTTP, so it could not reach the hub';
}

/**
 * Gemini CLI takes no other MCP server then, and asks nobody about ours: what its agent may do at the hub
 * is decided there. Other agents ask about each call, as their own settings say.
 */
function ownArguments({ command }: AcpSpec): readonly string[] {
  const isGemini = command.some((word) => basename(word) === 'gemini');
  return isGemini ? ['--allowed-mcp-server-names', SERVER_NAME] : [];
}

async function run(job: AcpJob, parts: VendorParts): Promise<TurnResult> {
  const { spec, transcript, signal } = job;
  const signed = await signedIn(spec, job.env, parts.env);
  if (isRefusal(signed)) return failedResult(signed.message);
  if (signed.secret !== null) transcript.hide(signed.secret);
  const plan = await planTurn(job, [...commandOf(spec), ...ownArguments(spec)], signed.env);
  if (isRefusal(plan)) return failedResult(plan.message);
  const now = parts.now ?? Date.now;
  const reader = createAcpReader((text) => transcript.append(text), now, job.spent);
  const prompt = turnPrompt(job, TOOL_PREFIX, now());
  const instructions = textOption(spec, 'instructions');
  const untold: string[] = [];
  const replay = createReplay();
  let session: string | null = null;
  let isPrompted = false;
  const program = startTurnProcess({
    ...{ argv: plan.argv, cwd: plan.cwd, env: plan.env, started: job.started },
    ...{ transcript, signal, record: parts.record ?? null },
    ...(parts.graceMs !== undefined && { graceMs: parts.graceMs }),
    onLine: (line) => rpc.hear(line),
  });
  const permissions = permissionsOf(job);
  const rpc = createLineRpc({
    write: (text) => program.write(text),
    onText: (line) => transcript.append(brief(line)),
    onRequest: (method, params) => answer(permissions, untold, method, params),
    onNotice(method, { update }) {
      // A session that is loaded tells all that was said before; that is no news.
      if (method !== 'session/update' || !isFields(update)) return;
      if (isPrompted) reader.update(update);
      else replay.heard();
    },
  });
  void program.ended.then(({ problem }) => rpc.end(problem ?? 'the agent has ended'));
  let problem: string | null = null;
  try {
    session = await openSession(job, rpc);
    if (session === job.sessionRef) await replay.over();
    isPrompted = true;
    const texts = instructions === null ? [prompt.text] : [instructions, prompt.text];
    await converse(rpc, reader, session, texts, untold, numberOption(spec, 'max_tokens'));
  } catch (error) {
    problem = (error as Error).message;
    if (error instanceof RpcFailure) reader.failed(error);
  }
  leave(program);
  const end = await program.ended;
  await plan.close();
  const learnt = reader.learnt(session);
  const result = endingOf(learnt, prompt.shown, null);
  if (learnt.finalText !== null || learnt.trouble !== null) return result;
  return { ...result, ...failedResult(problem ?? end.problem ?? 'no result', end.stderr) };
}

async function openSession(
  { spec, hub, cwd, sessionRef, transcript }: AcpJob,
  rpc: LineRpc,
): Promise<string> {
  const hello = await rpc.call('initialize', ACP_HELLO);
  const lack = lackOf(hello);
  if (lack !== null) throw new Error(`the agent ${lack}`);
  const headers = [{ name: 'Authorization', value: `Bearer ${hub.token}` }];
  const mcpServers = [{ type: 'http', name: SERVER_NAME, url: `${hub.url}/mcp`, headers }];
  const canLoad = acpCan(hello, 'loadSession');
  const method = textOption(spec, 'auth_method');
  const begin = async (): Promise<string> => {
    if (sessionRef !== null && canLoad) {
      try {
        await rpc.call('session/load', { sessionId: sessionRef, cwd, mcpServers });
        return sessionRef;
      } catch (error) {
        if (!(error instanceof RpcFailure) || error.code === AUTH_REQUIRED) throw error;
        transcript.append(
          `the session before is gone (${brief(error.message)}); a new one begins`,
          'note',
        );
      }
    }
    const { sessionId } = await rpc.call('session/new', { cwd, mcpServers });
    if (typeof sessionId !== 'string') throw new Error('the agent began no session');
    return sessionId;
  };
  const session = await begin().catch(async (error) => {
    if (!(error instanceof RpcFailure) || error.code !== AUTH_REQUIRED || method === null)
      throw error;
    await rpc.call('authenticate', { methodId: method });
    return begin();
  });
  const mode = textOption(spec, 'mode');
  if (mode !== null) await rpc.call('session/set_mode', { sessionId: session, modeId: mode });
  return session;
}

/** The turn itself, and then what became of the permissions it was refused. */
async function converse(
  rpc: LineRpc,
  reader: AcpReader,
  sessionId: string,
  texts: readonly string[],
  untold: string[],
  tokensMax: number | null,
): Promise<void> {
  let next = texts;
  for (let told = 0; ; told += 1) {
    const prompt = next.map((text) => ({ type: 'text', text }));
    reader.answered(await rpc.call('session/prompt', { sessionId, prompt }));
    if (tokensMax !== null && reader.tokens() > tokensMax) {
      const note = `it used ${reader.tokens()} of ${tokensMax} tokens`;
      return reader.trouble({ kind: 'budget', note });
    }
    if (untold.length === 0 || told >= TELLINGS_MAX) return;
    next = [`Synod: what became of what you asked for.\n${untold.splice(0).join('\n')}`];
  }
}

async function answer(
  permissions: Permissions,
  untold: string[],
  method: string,
  params: Params,
): Promise<object> {
  if (method !== 'session/request_permission') {
    throw new RpcFailure(-32601, `${method} is not answered here`, null);
  }
  const { title, ask, answer: answerOf } = acpAsk(params);
  const { isApproved, words }: Permission =
    ask === null
      ? {
          isApproved: false,
          state: 'withdrawn',
          words: 'Not approved: it could only be allowed for ever.',
        }
      : await permissions.ask(ask);
  if (!isApproved) untold.push(`- ${brief(title)}: ${words}`);
  return answerOf(isApproved);
}
