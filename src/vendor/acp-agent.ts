/**
 * What an agent that speaks the Agent Client Protocol is told and asks, once for turns and for clients: how
 * it is greeted, what it can do, and how its requests for permission are answered. It is given neither files
 * nor terminals of ours.
 */
import { isFields } from '../wire/fields.ts';
import type { Params } from './line-rpc.ts';
import type { PermissionAsk } from './permission-ask.ts';
import type { Ask } from './probe.ts';
import { parseLine } from './spoken.ts';

export const ACP_HELLO: object = {
  protocolVersion: 1,
  clientInfo: { name: 'synod', title: 'Synod', version: '1' },
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
};

export const AUTH_REQUIRED = -32000;

/** Modes in which the agent asks nobody about anything. */
export const UNASKED_MODE: RegExp = /yolo|bypass|full.?access/i;

/** The agent is started as for a turn, and says what it can do; null when it does not speak ACP. */
export async function greetAcp(ask: Ask): Promise<Params | null> {
  const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: ACP_HELLO };
  const { text } = await ask([], { input: `${JSON.stringify(hello)}\n`, until: /"id":\s*1\b/ });
  const answer = text
    .split('\n')
    .map(parseLine)
    .find((line) => line?.id === 1 && isFields(line.result));
  return isFields(answer?.result) ? answer.result : null;
}

/** What it lacks, as a sentence; null when it can be spoken with. */
export function acpLack(hello: Params | null): string | null {
  if (hello === null) return 'does not speak ACP on its standard input and output';
  const { protocolVersion } = hello;
  return protocolVersion === 1 ? null : `speaks version ${String(protocolVersion)} of ACP, not 1`;
}

/** Something it says it can do, by the path to it: `loadSession`, `mcpCapabilities.http`. */
export function acpCan({ agentCapabilities }: Params, path: string): boolean {
  let at: unknown = agentCapabilities;
  for (const name of path.split('.')) at = isFields(at) ? at[name] : undefined;
  // A word for yes: true, or an object that is there.
  return at === true || isFields(at);
}

export interface AcpAsk {
  readonly title: string;
  /** Null when it could only be allowed for ever: nobody is asked that. */
  readonly ask: PermissionAsk | null;
  answer(isApproved: boolean): object;
}

export function acpAsk(params: Params): AcpAsk {
  const call = isFields(params.toolCall) ? params.toolCall : {};
  const title = String(call.title ?? 'something');
  const options = Array.isArray(params.options) ? params.options.filter(isFields) : [];
  const of = (kind: string): Params | undefined => options.find((one) => one.kind === kind);
  const once = of('allow_once');
  return {
    title,
    ask:
      once === undefined
        ? null
        : {
            action: String(call.kind ?? 'tool'),
            subject: subjectOf(title, call),
            payload: { title, rawInput: call.rawInput ?? null, content: call.content ?? null },
          },
    answer: (isApproved) =>
      selected(isApproved ? once : (of('reject_once') ?? of('reject_always'))),
  };
}

function selected(option: Params | undefined): object {
  if (option === undefined) return { outcome: { outcome: 'cancelled' } };
  return { outcome: { outcome: 'selected', optionId: option.optionId } };
}

/** The title, and what comes with it. */
function subjectOf(title: string, { rawInput, content }: Params): string {
  const more = isFields(rawInput) ? rawInput : content;
  return more === undefined || more === null ? title : `${title} with ${JSON.stringify(more)}`;
}

/** Tokens in and out that a prompt used, as the protocol drafts it, or as Gemini CLI says it. */
export function acpTokens({ usage, _meta: meta }: Params): readonly [number, number] {
  const quota = isFields(meta) && isFields(meta.quota) ? meta.quota : {};
  const counted = isFields(quota.token_count) ? quota.token_count : {};
  const used = isFields(usage) ? usage : {};
  const number = (...values: unknown[]): number =>
    values.find((value): value is number => typeof value === 'number') ?? 0;
  return [
    number(used.inputTokens, counted.input_tokens),
    number(used.outputTokens, counted.output_tokens),
  ];
}
