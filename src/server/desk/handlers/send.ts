/**
 * Sending. The common case (no parent, no schema) goes to the hub without a single
 * await: it is the path that decides how fast Synod is.
 */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Described } from '../../../core/law/state.ts';
import type { View, Writable } from '../../../core/law/view.ts';
import type { SendMessage, SentAnswer } from '../../../core/talk/message.ts';
import { messageId } from '../../../core/talk/message-id.ts';
import type { RootRef } from '../../../core/threads/mark.ts';
import type { Hub } from '../../../hub/hub.ts';
import { asksOf, isTier2 } from '../../../wire/asks.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type { send } from '../../../wire/operations/channels.ts';
import { ANY_POST, flawsOf, isPost } from '../../../wire/post.ts';
import { bodyText } from '../body.ts';
import type { Caller } from '../caller.ts';
import { WritesItself } from '../output-text.ts';
import { checkedFor, type SchemaCheck } from '../platform.ts';
import { credentialOf } from '../proofs.ts';
import type { Room } from '../room.ts';
import { findMessage } from './message-lookup.ts';
import { closingOf, findRoot } from './threads.ts';

type Input = ParsedInputOf<typeof send>;
type Output = OutputOf<typeof send>;
const SCHEMA_RETRIES_MAX = 3;

/** Tries the short way; false when the message needs the long one. */
export function sendThen(
  hub: Hub,
  caller: Caller,
  input: Input,
  trace: string | null,
  done: (outcome: Output | Refusal) => void,
): boolean {
  if (input.reply_to != null || hub.schemaOf(input.channel).version !== 0) return false;
  const isDescribed = isPost(input.body) && hub.describedAs(input.channel) !== null;
  if (isDescribed || input.quote || input.reopen) return false;
  const command = sendCommand(hub, { caller, trace }, input, NO_PARENT, 0);
  if (isRefusal(command)) done(command);
  else {
    hub.submitThen(command, (outcome) => {
      const answer = outcome as SentAnswer | Refusal;
      if (isRefusal(answer)) done(answer);
      else if (answer.isRepeat === undefined) done(shortOutput(answer));
      else void repeatOutput(hub, answer, command.body).then(done);
    });
  }
  return true;
}

export async function handleSend(room: Room, input: Input): Promise<Output | Refusal> {
  const { hub } = room;
  const parent = await findParent(room, input);
  if (isRefusal(parent)) return parent;
  // The schema may change between the check and the decision; the law notices and we check again.
  for (let tries = 1; ; tries++) {
    const { text, version } = hub.schemaOf(input.channel);
    const violations = text === null ? null : checkBody(room, text, input);
    if (violations !== null) return violations;
    const command = sendCommand(hub, room, input, parent, version, room.platform.schemas);
    if (isRefusal(command)) return command;
    const answer = await hub.submit(command);
    if (!isRefusal(answer)) {
      return answer.isRepeat ? repeatOutput(hub, answer, command.body) : sendOutput(answer);
    }
    if (answer.refused === 'thread.closed') return withNote(room, answer);
    if (answer.refused !== 'schema.changed' || tries >= SCHEMA_RETRIES_MAX) return answer;
  }
}

interface Parent {
  readonly replyTo: number | null;
  readonly reopens: RootRef | null;
}

const NO_PARENT: Parent = { replyTo: null, reopens: null };

async function findParent(room: Room, input: Input): Promise<Parent | Refusal> {
  const { reply_to: id, reopen, quote } = input;
  if (id == null) {
    if (!quote && !reopen) return NO_PARENT;
    const field = quote ? 'quote' : 'reopen';
    return refuse('input.invalid', `${field} says how to reply: name the message in reply_to`, {
      violations: [{ field, issue: 'needs reply_to' }],
    });
  }
  const parent = await findMessage(room, id, 'reply_to');
  if (isRefusal(parent)) return parent;
  const root = reopen && !quote ? await findRoot(room, id, 'reply_to') : null;
  return isRefusal(root) ? root : { replyTo: parent.position, reopens: root };
}

/** The law knows that the thread is closed, the log knows why [TM7]. */
async function withNote(room: Room, refusal: Refusal): Promise<Refusal> {
  const closed = await closingOf(room, String(refusal.detail?.thread)).catch(() => null);
  if (closed === null) return refusal;
  const { by, at, note } = closed;
  return {
    ...refusal,
    message: `${refusal.message} (closed by ${by}: ${note})`,
    detail: { ...refusal.detail, closed_by: by, closed_at: at / 1000, note },
  };
}

/** A post that does not fit what the channel says posts must be [TM8]. */
function checkPost(
  described: View<Described> | null,
  { body, channel }: Input,
  caller: Caller,
  schemas: SchemaCheck | null,
): Refusal | null {
  const schema = described?.postSchema ?? null;
  const asked = { whose: checkedFor(caller), isTrusted: false };
  const checked = schema === null ? undefined : schemas?.check(schema, body, asked);
  if (checked !== undefined && isRefusal(checked)) return checked;
  const flaws = flawsOf(body, described ?? ANY_POST);
  const violations = [...flaws, ...(checked?.violations ?? [])];
  const [first] = violations;
  if (first === undefined) return null;
  return refuse(
    'post.invalid',
    `the post does not fit ${channel}: ${first.field} ${first.issue}; see channels.list_channels with details`,
    { violations, violation_count: flaws.length + (checked?.count ?? 0) },
  );
}

function checkBody({ platform, caller }: Room, schema: string, input: Input): Refusal | null {
  const asked = { whose: checkedFor(caller), isTrusted: true };
  const checked = platform.schemas.check(schema, input.body, asked);
  if (isRefusal(checked)) return checked;
  const { violations, count } = checked;
  const [first] = violations;
  if (first === undefined) return null;
  return refuse(
    'body.invalid',
    `the body does not fit the schema of ${input.channel}: ${first.field} ${first.issue}`,
    { violations, violation_count: count },
  );
}

function sendCommand(
  hub: Hub,
  { caller, trace }: Pick<Room, 'caller' | 'trace'>,
  input: Input,
  { replyTo, reopens }: Parent,
  schemaVersion: number,
  schemas: SchemaCheck | null = null,
): SendMessage | Refusal {
  const body = bodyText(input.body);
  if (typeof body !== 'string') return body;
  const described = isPost(input.body) ? hub.describedAs(input.channel) : undefined;
  const flaw = described === undefined ? null : checkPost(described, input, caller, schemas);
  if (flaw !== null) return flaw;
  const command: Writable<SendMessage> = {
    type: 'message.send',
    by: caller.principal,
    at: hub.stamp(),
    channel: input.channel,
    body,
    correlationId: input.correlation_id ?? null,
    replyTo,
    key: input.idempotency_key ?? null,
    ttlMs: input.ttl_ms ?? null,
    schemaVersion,
    asks: hub.hasManaged ? asksOf(input.body) : null,
    tier2: isTier2(input.body) ? { credential: credentialOf(caller) } : null,
  };
  // Most messages have none of these, and spreading nothing into an object costs as much as a field.
  if (input.quote) command.isQuote = true;
  if (reopens !== null) command.reopens = reopens;
  if (described !== undefined) command.postVersion = described?.version ?? 0;
  if (trace !== null) command.trace = trace;
  return command;
}

/**
 * The first message's answer, and whether this body was another one: read back from the log, because
 * bodies are not in memory and a repeat is rare. Silent about a body that is not there to compare.
 */
async function repeatOutput(hub: Hub, answer: SentAnswer, body: string): Promise<Output> {
  const [first] = await hub.messages([answer.position]).catch(() => []);
  const isComparable = first != null && first.dropped === undefined;
  return {
    ...sendOutput(answer),
    metadata: {
      repeated: true,
      ...(isComparable && { body_differs: JSON.stringify(first.body) !== body }),
    },
  };
}

function sendOutput(answer: SentAnswer): Output {
  const output: Output = new Sent(answer).fields();
  if (answer.gate !== undefined) output.metadata = { gate_id: answer.gate };
  return output;
}

/** The same where it is only written, which is all that most are for. */
export function shortOutput(answer: SentAnswer): Output {
  return answer.gate === undefined ? (new Sent(answer) as unknown as Output) : sendOutput(answer);
}

/** What is said of a message that was stored and waits for nobody. */
class Sent extends WritesItself {
  readonly sent_at: number;
  readonly message_id: string;
  readonly seq: number;
  readonly backpressure: Output['backpressure'];
  constructor({ at, position, seq, depth, limit }: SentAnswer) {
    super();
    this.sent_at = at / 1000;
    this.message_id = messageId(position);
    this.seq = seq;
    this.backpressure = {
      queue_depth: depth,
      threshold: limit,
      state: depth < 0.8 * limit ? 'ok' : depth < limit ? 'warn' : 'over',
    };
  }

  fields(): Output {
    return { ...this };
  }

  toText(): string {
    const { queue_depth, threshold, state } = this.backpressure;
    return (
      `{"sent_at":${this.sent_at},"message_id":"${this.message_id}","seq":${this.seq},` +
      `"backpressure":{"queue_depth":${queue_depth},"threshold":${threshold},"state":"${state}"}}`
    );
  }
}
