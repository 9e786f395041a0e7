/** `synod call`: any operation, by id or name, with its input as JSON. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { parseObject } from './parse-value.ts';
import { readStdin } from './stdin.ts';
import { jsonText } from './terminal.ts';

export function registerCall(program: Command): void {
  const command = program
    .command('call')
    .description('call any operation')
    .argument('<operation>', 'an id or a name, as in: synod ops')
    .argument('[input]', 'a JSON object; - reads it from standard input', '{}');
  handle(command, async ({ args, call, show }) => {
    const [operation = '', given = '{}'] = args;
    const input = parseObject(given === '-' ? await readStdin() : given, 'the input');
    // Both may wait as long as they were asked to.
    const waitMs = Math.max(Number(input.wait_ms) || 0, (Number(input.timeout) || 0) * 1000);
    const answer = await call(operation, input, waitMs);
    show(answer, () => [jsonText(answer, 2)]);
  });
}
