/** `synod report`: say what you are doing, so that others and the router know. */
import type { Command } from 'commander';
import { collect, given, handle } from './context.ts';
import { parseDurationMs, parseWhole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface ReportFlags {
  readonly role?: readonly string[];
  readonly process?: string;
  readonly ttl?: string;
}

export function registerReport(program: Command): void {
  const command = program
    .command('report')
    .description('say what you are doing')
    .argument('<state>', 'idle, busy, or blocked: waiting for a person')
    .argument('[note]', 'what you are at, or the question to the person')
    .option('--role <role>', 'a role you answer to; may be repeated', collect)
    .option('--process <pid>', 'the process that is you')
    .option('--ttl <time>', 'how long that holds unless said again (2m)');
  handle<ReportFlags>(command, async ({ args, flags, call, show }) => {
    const [state, note] = args;
    const ttl = flags.ttl === undefined ? undefined : parseDurationMs(flags.ttl, '--ttl') / 1000;
    const process =
      flags.process === undefined ? undefined : parseWhole(flags.process, '--process');
    const answer = await call(
      'presence_report',
      given({ state, note, roles: flags.role, process, ttl }),
    );
    show(answer, () => [neutralise(`${answer.agent_id} is ${answer.state}`)]);
  });
}
