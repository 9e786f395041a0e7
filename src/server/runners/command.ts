/**
 * The runner `command`: any program. It is given one JSON line on standard input and then the end, and
 * the last JSON line of its standard output is the result; every other line is text for the
 * transcript [RU2]. A program that exits with another code than 0, or gives no result, has failed.
 */
import { isRefusal } from '../../core/law/decider.ts';
import { isFields, parseJson } from '../../wire/fields.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { checkPolicy, planTurn } from './guarded-command.ts';
import type { LiveRecord } from './live-record.ts';
import { writeMcpConfig } from './mcp-config.ts';
import { checkProgram } from './program.ts';
import type { Runner, TurnJob, TurnResult } from './runner.ts';
import { startTurnProcess } from './turn-process.ts';
import { failedResult, parseTurnResult } from './turn-result.ts';

type CommandSpec = SpecOf<'command'>;

/** Lines that look like JSON and are none may follow the result; so many are looked at. */
const CANDIDATES_MAX = 4;

export function createCommandRunner(options: {
  readonly record?: LiveRecord | null;
  readonly graceMs?: number;
}): Runner<CommandSpec> {
  return {
    kind: 'command',
    check: async (spec) =>
      (await checkProgram(spec.command[0] ?? '', spec.cwd ?? null, 'command')) ?? checkPolicy(spec),
    run: (job) => run(job, options),
  };
}

async function run(
  job: TurnJob<CommandSpec>,
  options: Parameters<typeof createCommandRunner>[0],
): Promise<TurnResult> {
  const { spec, turn, messages, hub, transcript, signal } = job;
  const candidates: string[] = [];
  const env = { ...job.env, SYNOD_MCP_CONFIG: await writeMcpConfig(job) };
  const plan = await planTurn(job, spec.command, env);
  if (isRefusal(plan)) return failedResult(plan.message);
  const program = startTurnProcess({
    ...options,
    ...{ argv: plan.argv, cwd: plan.cwd, env: plan.env },
    ...{ transcript, signal, started: job.started },
    onLine(line) {
      transcript.append(line);
      if (!line.trimStart().startsWith('{')) return;
      candidates.push(line);
      if (candidates.length > CANDIDATES_MAX) candidates.shift();
    },
  });
  program.write(`${JSON.stringify({ turn, messages, hub, session_ref: job.sessionRef })}\n`);
  program.endInput();
  const { problem, stderr } = await program.ended;
  await plan.close();
  if (problem !== null) return failedResult(problem, stderr);
  const value = candidates.reverse().map(parseJson).find(isFields);
  if (value === undefined) return failedResult('no result', stderr);
  const result = parseTurnResult(value, messages);
  return isRefusal(result) ? failedResult(result.message, stderr) : result;
}
