/** From a frame of a bound socket to the handler of its type, with what the handler may use. */
import type { Refusal } from '../../../core/law/decider.ts';
import type { Hub } from '../../../hub/hub.ts';
import type { Operation } from '../../../wire/operation.ts';
import type { Answer } from '../../desk/answer.ts';
import type { Caller } from '../../desk/caller.ts';
import type { Desk } from '../../desk/desk.ts';
import { chatHandler, historyHandler, resumeHandler } from './chat.ts';
import { claimFrames } from './claim-frames.ts';
import type { SynapseClient } from './client.ts';
import { type Frame, own, textOf } from './frame.ts';
import { heardAs } from './news.ts';
import { snapshotFrames } from './snapshots.ts';
import type { Fields, Speech } from './speech.ts';
import type { Handler, Turn } from './turn.ts';
import { workFrames } from './work-frames.ts';

/** Chats of one socket under way; past it, its next frame waits. */
const CHATS_MAX = 256;
const NAME_CHARS_MAX = 64;
const REQ_ID_CHARS_MAX = 256;

export interface DispatchOptions {
  readonly desk: Desk;
  readonly hub: Hub;
  readonly speech: Speech;
  roster(): string[];
  clientCount(): number;
  /** Null when nobody of that name is at this door, of whatever server. */
  callerOf(name: string): Promise<Caller | null>;
}

/** Settles when the frame has been carried out, or, for a chat, handed over; undefined: it has been. */
export type Dispatch = (
  client: SynapseClient,
  frame: Frame,
  chars: number,
) => Promise<void> | undefined;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { speech } = options;
  const handlers = new Map<string, Handler>([
    ...Object.entries({ ...claimFrames, ...workFrames, ...snapshotFrames }),
    ['heartbeat', async () => {}],
    ['chat', chatHandler()],
    ['history_request', historyHandler(speech)],
    ['resume_request', resumeHandler(speech)],
    ['resource_offer', workFrames.resource as Handler],
    ['offer_resource', workFrames.resource as Handler],
  ]);

  return (client, frame, chars) => {
    const { caller } = client;
    if (caller === null) return undefined;
    const type = typeOf(frame);
    const turn = new FrameTurn(options, client, caller, { frame, type, chars });
    const handler = handlers.get(type);
    if (handler === undefined) {
      const request_type = type.slice(0, NAME_CHARS_MAX);
      const payload = `there is no message type ${request_type}`;
      turn.reply('error', payload, { reason_code: 'operation.unknown', request_type });
      return undefined;
    }
    client.heard.clear();
    client.isBusy = true;
    let done: Promise<void> | undefined;
    try {
      done = handler(turn);
    } finally {
      if (done === undefined) client.isBusy = false;
    }
    if (done !== undefined) return inTurn(client, done);
    return client.underWay >= CHATS_MAX ? client.relief() : undefined;
  };
}

async function inTurn(client: SynapseClient, done: Promise<void>): Promise<void> {
  await done.finally(() => {
    client.isBusy = false;
  });
  if (client.underWay >= CHATS_MAX) await client.relief();
}

/** Missing is chat; what is no text is no type. */
function typeOf(frame: Frame): string {
  const said = own(frame, 'type') ?? '';
  return typeof said === 'string' ? said.trim().toLowerCase() || 'chat' : '?';
}

/** A class, because every frame makes one and most use one of its methods. */
class FrameTurn implements Turn {
  readonly frame: Frame;
  readonly type: string;
  readonly chars: number;
  readonly #options: DispatchOptions;
  readonly #client: SynapseClient;
  readonly #caller: Caller;

  constructor(
    options: DispatchOptions,
    client: SynapseClient,
    caller: Caller,
    { frame, type, chars }: Pick<Turn, 'frame' | 'type' | 'chars'>,
  ) {
    this.frame = frame;
    this.type = type;
    this.chars = chars;
    this.#options = options;
    this.#client = client;
    this.#caller = caller;
  }

  get name(): string {
    return this.#client.name;
  }

  get hub(): Hub {
    return this.#options.hub;
  }

  get waits(): Set<number> {
    return this.#client.waits;
  }

  get clients(): number {
    return this.#options.clientCount();
  }

  call(operation: Operation, input: unknown): Promise<Answer> {
    const { signal } = this.#client.gone;
    return this.#options.desk.call(this.#caller, operation, input, { signal });
  }

  async callFor(name: string, operation: Operation, input: unknown): Promise<Answer | null> {
    const other = await this.#options.callerOf(name);
    return other === null ? null : this.#options.desk.call(other, operation, input);
  }

  callAs(
    operation: Operation,
    input: unknown,
    run: () => Promise<Fields | Refusal>,
  ): Promise<Answer> {
    const { signal } = this.#client.gone;
    return this.#options.desk.callAs(this.#caller, operation, input, run, signal);
  }

  callThen(operation: Operation, input: unknown, done: (answer: Answer) => void): void {
    const client = this.#client;
    client.underWay++;
    this.#options.desk.callThen(this.#caller, operation, input, (answer) => {
      client.finish();
      done(answer);
    });
  }

  reply(type: string, payload: string, fields: Fields = {}): void {
    const said = { ...fields, ...requestId(this.frame) };
    this.#client.peer.send(this.#options.speech.say(type, this.#client.name, payload, said));
  }

  hasHeard(type: string, about: string): boolean {
    return this.#client.heard.has(heardAs(type, about));
  }

  online(): readonly string[] {
    return this.#options.roster();
  }
}

/** The original has no such field; who sends one gets it back with private replies. */
function requestId(frame: Frame): Fields {
  const id = own(frame, 'req_id');
  if (typeof id === 'number') return { req_id: id };
  const text = textOf(frame, 'req_id');
  return text === '' ? {} : { req_id: text.slice(0, REQ_ID_CHARS_MAX) };
}
