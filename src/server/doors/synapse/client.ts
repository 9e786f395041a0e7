/** A socket and the agent behind it, once it has said its name. */
import type { Caller } from '../../desk/caller.ts';
import type { Peer } from '../peer.ts';

export interface SynapseClient {
  readonly peer: Peer;
  /** `?` until it is bound. */
  name: string;
  /** Null until the desk knows the agent. */
  caller: Caller | null;
  /** It may be told things: from the start at an open hub, once bound at a secured one. */
  isWelcome: boolean;
  /** The end of the log when it was bound: what lies before was not shown to it. */
  boundAt: number;
  /** A frame of its own is being carried out. */
  isBusy: boolean;
  /** Broadcasts that reached it while its frame is carried out. */
  readonly heard: Set<string>;
  readonly waits: Set<number>;
  /** Takes the connection off the agent's evidence of presence. */
  countOut: () => void;
  /** Channels with messages that it was shown and the hub does not know to be read. */
  readonly mail: Set<string>;
  readonly gone: AbortController;
  /** Nothing of it is carried out any more; one that left by itself is heard to the end [SY13]. */
  isEnded: boolean;
  /** Chats handed to the hub and not answered yet. */
  underWay: number;
  finish(): void;
  /** Settles when half of what is under way is done. */
  relief(): Promise<void>;
}

export function createClient(open: (client: SynapseClient) => Peer): SynapseClient {
  let wake = (): void => {};
  let wakeAt = 0;
  const client: Omit<SynapseClient, 'peer'> & { peer?: Peer } = {
    name: '?',
    caller: null,
    isWelcome: false,
    boundAt: 0,
    isBusy: false,
    heard: new Set(),
    waits: new Set(),
    countOut: () => {},
    mail: new Set(),
    gone: new AbortController(),
    isEnded: false,
    underWay: 0,
    finish() {
      if (--client.underWay <= wakeAt) wake();
    },
    relief() {
      wakeAt = client.underWay / 2;
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
  };
  client.peer = open(client as SynapseClient);
  return client as SynapseClient;
}
