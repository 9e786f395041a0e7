/**
 * What a runner gave as its result, read as what a stranger's program wrote: every field is looked at,
 * a message that the turn was not given cannot be drained, and a text is cut to what the record
 * takes. What cannot be a result is a refusal `runner.bad-result` that names the field [RU3].
 */
import { z } from 'zod';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { jsonObject } from '../../wire/schemas.ts';
import type { GivenMessage, TurnResult } from './runner.ts';

const REPLIES_MAX = 100;
export const NOTE_CHARS_MAX = 4_000;
const PROBLEM_CHARS_MAX = 600;

const cutText = z.string().transform((text) => cut(text));
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const result = z.object({
  outcome: z.enum(['done', 'failed', 'gave_up', 'nothing']),
  replies: z
    .array(
      z.object({
        channel: z.string().min(1).max(256).optional(),
        reply_to: z.string().min(1).max(64).optional(),
        body: z.union([jsonObject(), z.string().transform((text) => ({ text }))]),
        wants_reply: z.boolean().optional(),
      }),
    )
    .max(REPLIES_MAX)
    .optional(),
  consumed: z.union([z.literal('all'), z.array(z.string().max(64)).max(10_000)]).optional(),
  question: cutText.optional(),
  note: cutText.optional(),
  session_ref: z.string().min(1).max(512).optional(),
  cost: z
    .object({
      usd: z.number().min(0).max(1e9).optional(),
      tokens_in: count.optional(),
      tokens_out: count.optional(),
    })
    .optional(),
});

export function parseTurnResult(
  value: unknown,
  messages: readonly GivenMessage[],
): TurnResult | Refusal {
  const parsed = result.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return bad(issue?.path.join('.') ?? '', issue?.message ?? 'it is no result');
  }
  const given = new Set(messages.map(({ message_id }) => message_id));
  const { consumed, replies = [] } = parsed.data;
  const strange = Array.isArray(consumed) ? consumed.findIndex((id) => !given.has(id)) : -1;
  if (strange >= 0) return bad(`consumed.${strange}`, 'the turn was not given this message');
  const lost = replies.findIndex(
    ({ channel, reply_to: to }) => channel === undefined && to !== undefined && !given.has(to),
  );
  if (lost >= 0)
    return bad(`replies.${lost}.channel`, 'where to, when it answers another message?');
  return parsed.data as TurnResult;
}

/** A failure as a result: what happened, and the last lines of stderr behind it. */
export function failedResult(problem: string, stderr: readonly string[] = []): TurnResult {
  const said = cut(problem, PROBLEM_CHARS_MAX);
  // All of them fit, each cut alike; the transcript has them whole.
  const lineMax = Math.floor((NOTE_CHARS_MAX - said.length) / Math.max(1, stderr.length)) - 1;
  return {
    outcome: 'failed',
    note: [said, ...stderr.map((line) => cut(line, lineMax))].join('\n'),
  };
}

function bad(field: string, issue: string): Refusal {
  return refuse('runner.bad-result', `the result cannot be used: ${field || 'it'}: ${issue}`, {
    field,
  });
}

function cut(text: string, max: number = NOTE_CHARS_MAX): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
