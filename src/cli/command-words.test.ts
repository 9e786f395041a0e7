import { expect, test } from 'vitest';
import { findOperation, operationList } from '../wire/operations/table.ts';
import { COMMANDS, inCommandWords } from './command-words.ts';
import { failureText, refused } from './failure.ts';
import { findCommand } from './program.ts';

test('[CL21] a refusal names commands, with what is typed after them', () => {
  const message =
    'parser is held by ada for 9 s more; wait for it with claims.wait {"task_id": "parser"}, or take it with wait_ms';
  const failure = refused({
    error_code: 'x',
    message,
    detail: { reason: 'claim.held' },
  });
  expect(failureText(failure, false)).toBe(
    'claim.held: parser is held by ada for 9 s more; wait for it with "synod claims wait parser", or take it with --wait\n',
  );
  // A program reads what the hub said.
  expect(JSON.parse(failureText(failure, true)).message).toBe(message);
  expect(inCommandWords('take away what has ended with plan.remove')).toBe(
    'take away what has ended with "synod call plan.remove"',
  );
  expect(inCommandWords('group.not-member and a.b stay')).toBe('group.not-member and a.b stay');
  expect(inCommandWords('move cluster.json away')).toBe('move cluster.json away');
  expect(inCommandWords('see /tmp/d/hub.log')).toBe('see /tmp/d/hub.log');
});

test('[CL21] every operation is known by its id, and every command is one', () => {
  for (const { id, isStreaming } of operationList) {
    if (!isStreaming && !id.startsWith('stream.')) expect(inCommandWords(id), id).not.toBe(id);
  }
  for (const [id, command] of Object.entries(COMMANDS)) {
    expect(findOperation(id)?.id, id).toBe(id);
    expect(findCommand(command.split(' ')[1] ?? ''), command).toBeDefined();
  }
});
