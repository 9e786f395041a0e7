/** From a frame of a bound socket to the handler of its type, with what the handler may use. */

import type { Hub } from '../../../hub/hub.ts';
import type { Caller } from '../../desk/caller.ts';
import type { Desk } from '../../desk/desk.ts';
import { chatHandler, historyHandler, resumeHandler } from './chat.ts';
import { claimFrames } from './claim-frames.ts';
import type { SynapseClient } from './client.ts';
import { type Frame, own, textOf } from './frame.ts';
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

/** Settles when the frame has been carried out, or, for a chat, handed over. */
export type Dispatch = (client: SynapseClient, frame: Frame) => Promise<void>;

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

  return async (client, frame) => {
    const { caller } = client;
    if (caller === null) return;
    const type = typeOf(frame);
    const turn = turnOf(options, client, caller, frame, type);
    const handler = handlers.get(type);
    if (handler === undefined) {
      const request_type = type.slice(0, NAME_CHARS_MAX);
      const payload = `there is no message type ${request_type}`;
      turn.reply('error', payload, { reason_code: 'operation.unknown', request_type });
      return;
    }
    client.heard.clear();
    client.isBusy = true;
    await handler(turn).finally(() => {
      client.isBusy = false;
    });
    if (client.underWay >= CHATS_MAX) await client.relief();
  };
}

/** Missing is chat; what is no text is no type. */
function typeOf(frame: Frame): string {
  const said = own(frame, 'type') ?? '';
  return typeof said === 'string' ? said.trim().toLowerCase() || 'chat' : '?';
}

function turnOf(
  { desk, hub, speech, roster, clientCount, callerOf }: DispatchOptions,
  client: SynapseClient,
  caller: Caller,
  frame: Frame,
  type: string,
): Turn {
  const id = requestId(frame);
  return {
    frame,
    type,
    name: client.name,
    hub,
    waits: client.waits,
    get clients() {
      return clientCount();
    },
    call: (operation, input) => desk.call(caller, operation, input, { signal: client.gone.signal }),
    async callFor(name, operation, input) {
      const other = await callerOf(name);
      return other === null ? null : desk.call(other, operation, input);
    },
    callAs: (operation, input, run) =>
      desk.callAs(caller, operation, input, run, client.gone.signal),
    callThen(operation, input, done) {
      client.underWay++;
      desk.callThen(caller, operation, input, (answer) => {
        client.finish();
        done(answer);
      });
    },
    reply: (replyType, payload, fields = {}) =>
      client.peer.send(speech.say(replyType, client.name, payload, { ...fields, ...id })),
    hasHeard: (heardType, about) => client.heard.has(`${heardType}\n${about}`),
    online: roster,
  };
}

/** The original has no such field; who sends one gets it back with private replies. */
function requestId(frame: Frame): Fields {
  const id = own(frame, 'req_id');
  if (typeof id === 'number') return { req_id: id };
  const text = textOf(frame, 'req_id');
  return text === '' ? {} : { req_id: text.slice(0, REQ_ID_CHARS_MAX) };
}
