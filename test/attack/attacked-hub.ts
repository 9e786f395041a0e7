/**
 * The attack suite: each file asks what one hostile token (or reader, name, stranger) can do to
 * everybody else, and is named by what holds. This is its stage: one hub in this process on a real
 * socket, and the callers an attack is made of, each with a token of its kind.
 *
 * Ask what is left for the others afterwards (an answer, a count, the log's mark), not how long
 * something took: the suite runs on machines that are busy with other things.
 */
import { type EventStream, openEventStream } from '../e2e/event-stream.ts';
import { openRpcSocket, type RpcSocket } from '../e2e/rpc-socket.ts';
import {
  type Headers,
  type HubOptions,
  type Json,
  openRunningHub,
  type Reply,
  type RunningHub,
} from '../e2e/running-hub.ts';

/** Somebody with a credential, at the doors. */
export interface Holder {
  readonly name: string;
  readonly headers: Headers;
  /** The answer; throws when the hub refuses. */
  ask(operation: string, input?: unknown): Promise<Json>;
  /** The error envelope; throws when the hub did not refuse. */
  refusal(operation: string, input?: unknown): Promise<Json>;
  /** Whatever came. */
  post(operation: string, input?: unknown): Promise<Reply>;
  socket(): Promise<RpcSocket>;
  events(query?: string): Promise<EventStream>;
}

export interface TokenOptions {
  readonly kind?: 'agent' | 'human' | 'observer' | 'admin';
  readonly tier?: 'owner' | 'trusted' | 'standard' | 'untrusted';
  readonly space?: string;
}

export interface AttackedHub extends RunningHub {
  /** With the owner's credential: an administrator everywhere. */
  readonly owned: Holder;
  /** An administrator of the default space, by token. */
  readonly spaceAdmin: Holder;
  readonly human: Holder;
  readonly agent: Holder;
  /** A second agent of the ordinary kind. */
  readonly other: Holder;
  readonly untrusted: Holder;
  readonly observer: Holder;
  /** One more, with a token made for it. */
  holder(name: string, options?: TokenOptions): Promise<Holder>;
}

export async function openAttackedHub(options: HubOptions = {}): Promise<AttackedHub> {
  const hub = await openRunningHub(options);
  const holder = async (name: string, token: TokenOptions = {}): Promise<Holder> => {
    const { kind = 'agent', tier = 'standard', space } = token;
    const made = await hub.admin('tokens_create', { agent_id: name, kind, tier }, space);
    return holderOf(hub, name, { authorization: `Bearer ${made.token}` });
  };
  return {
    ...hub,
    owned: holderOf(hub, 'owner', { authorization: `Bearer ${hub.owner}` }),
    spaceAdmin: await holder('adam', { kind: 'admin', tier: 'trusted' }),
    human: await holder('hilda', { kind: 'human', tier: 'trusted' }),
    agent: await holder('ada'),
    other: await holder('bob'),
    untrusted: await holder('mallory', { tier: 'untrusted' }),
    observer: await holder('olga', { kind: 'observer' }),
    holder,
  };
}

function holderOf(hub: RunningHub, name: string, headers: Headers): Holder {
  const post = (operation: string, input: unknown = {}): Promise<Reply> =>
    hub.post(operation, input, headers);
  return {
    name,
    headers,
    post,
    async ask(operation, input) {
      const { status, body, text } = await post(operation, input);
      if (status === 200) return body;
      throw new Error(`${operation} of ${name} was refused with ${status}: ${text}`);
    },
    async refusal(operation, input) {
      const { status, body, text } = await post(operation, input);
      if (status !== 200) return body;
      throw new Error(`${operation} of ${name} was not refused: ${text}`);
    },
    socket: () => openRpcSocket(hub.url, headers),
    events: (query) => openEventStream(hub.url, headers, query),
  };
}
