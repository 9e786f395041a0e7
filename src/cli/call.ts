/** `synod call`: any operation, by id or name, with its input as JSON. */
import type { Command } from 'commander';
import { callByName } from '../client/node/call.ts';
import { readStdin } from './body-input.ts';
import { handle } from './context.ts';
import { parseObject } from './parse-value.ts';
import { jsonText } from './terminal.ts';

export function registerCall(program: Command): void {
  const command = program
    .command('call')
    .description('call any operation')
    .argument('<operation>', 'an id or a name, as in: synod ops')
    .argument('[input]', 'a JSON object; - reads it from standard input', '{}');
  handle(command, async ({ args, target, show }) => {
    const [operation = '', given = '{}'] = args;
    const input = parseObject(given === '-' ? await readStdin() : given, 'the input');
    const answer = await callByName(target(), operation, input);
    show(answer, () => [jsonText(answer, 2)]);
  });
}
