/**
 * Claude Code's `stream-json`, told once for turns and for clients: the options that open it, what it asks,
 * and how each is answered. Permission prompts come over the same pipe.
 */
import { isFields } from '../wire/fields.ts';
import { gateSubject } from '../wire/gate-words.ts';
import type { PermissionAsk } from './permission-ask.ts';
import type { Ask } from './probe.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The tool with which it puts questions to a person. */
export const QUESTION_TOOL = 'AskUserQuestion';

/** JSON in and out, line by line, with permission prompts on the same line. */
export const CLAUDE_STREAM: readonly string[] = [
  '-p',
  ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
  ...['--permission-prompt-tool', 'stdio'],
];

/** An option no version has: what is refused before it is what this version lacks. */
const NO_OPTION = '--synod-no-such-option';

/** Options are refused in order, and before anything is started: hidden ones too. */
export async function claudeLack(ask: Ask, used: readonly string[]): Promise<string | null> {
  const { text } = await ask([...used, NO_OPTION]);
  const [, unknown = NO_OPTION] = /unknown option '?(--[\w-]+)/.exec(text) ?? [];
  return unknown === NO_OPTION ? null : `has no option ${unknown}, which a turn uses`;
}

export type ClaudeAsk =
  | { readonly kind: 'ask'; readonly id: string; readonly tool: string; readonly input: Fields }
  | { readonly kind: 'unknown-ask'; readonly id: string };

/** Of a line of the type `control_request`. */
export function claudeAsk({ request_id: id, request }: Fields): ClaudeAsk | null {
  if (typeof id !== 'string') return null;
  if (!isFields(request) || request.subtype !== 'can_use_tool') return { kind: 'unknown-ask', id };
  const input = isFields(request.input) ? request.input : {};
  return { kind: 'ask', id, tool: String(request.tool_name ?? ''), input };
}

export function claudePermission(tool: string, input: Fields): PermissionAsk {
  return { action: tool, subject: gateSubject(input), payload: { tool, input } };
}

/** The line that answers it; null for a request that is not answered here. */
export function claudeAnswer(
  requestId: string,
  answer: { readonly isApproved: boolean; readonly words: string; readonly input: Fields } | null,
): string {
  const response =
    answer === null
      ? null
      : answer.isApproved
        ? { behavior: 'allow', updatedInput: answer.input }
        : { behavior: 'deny', message: answer.words };
  const said =
    response === null
      ? { subtype: 'error', request_id: requestId, error: 'not answered here' }
      : { subtype: 'success', request_id: requestId, response };
  return `${JSON.stringify({ type: 'control_response', response: said })}\n`;
}

export function claudeSays(text: string, uuid?: string): string {
  const message = { role: 'user', content: text };
  return `${JSON.stringify({ type: 'user', message, ...(uuid !== undefined && { uuid }) })}\n`;
}

/** The questions it puts to a person, as one text. */
export function claudeQuestion({ questions }: Fields): string {
  const list = Array.isArray(questions) ? questions.filter(isFields) : [];
  const asked = list.map(({ question }) => String(question ?? '')).filter((one) => one !== '');
  return asked.join('\n') || 'It has a question.';
}

/** Tokens in, cached ones too, and out, of a `usage`. */
export function claudeTokens(usage: unknown): readonly [number, number] {
  const used = isFields(usage) ? usage : {};
  const count = (name: string): number => (typeof used[name] === 'number' ? used[name] : 0);
  const input = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
  return [input.reduce((sum, name) => sum + count(name), 0), count('output_tokens')];
}
