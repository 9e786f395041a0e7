/** `synod ops`: the operations there are, or the input and output of one. Asks no hub. */
import type { Command } from 'commander';
import { toJSONSchema } from 'zod';
import { handle } from './context.ts';
import { refused } from './failure.ts';
import { columns, jsonText } from './terminal.ts';

export function registerOps(program: Command): void {
  const command = program
    .command('ops')
    .description('list the operations, or show the input and output of one')
    .argument('[operation]', 'an id or a name');
  handle(command, async ({ args, show }) => {
    const { findOperation, operationList } = await import('../wire/operations/table.ts');
    const [name] = args;
    if (name === undefined) {
      const all = operationList.map(({ id, name, access, doc }) => ({ id, name, access, doc }));
      show(all, () => columns(all.map((one) => [one.id, one.access, one.doc])));
      return;
    }
    const operation = findOperation(name);
    if (operation === undefined) {
      const detail = { reason: 'operation.unknown' };
      throw refused({
        error_code: 'validation_error',
        message: `there is no operation ${name}`,
        detail,
      });
    }
    const schemaOf = (io: 'input' | 'output') =>
      toJSONSchema(operation[io], { io, unrepresentable: 'any' });
    const { id, access, doc } = operation;
    const shape = {
      id,
      name: operation.name,
      access,
      doc,
      input: schemaOf('input'),
      output: schemaOf('output'),
    };
    show(shape, () => [jsonText(shape, 2)]);
  });
}
