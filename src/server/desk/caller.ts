/**
 * Who is at the desk: a principal in a space, as a door authenticated it, and how
 * the call came in. Doors make a Introduction from what they were shown; `identity.ts`
 * turns it into a Caller or a refusal.
 */
import type { Principal } from '../../core/law/principal.ts';
import type { Activity } from './activity.ts';

/** What a door was shown. Nothing in it is believed yet. */
export interface Introduction {
  /** Bearer token, from a header or a WebSocket subprotocol. */
  readonly token: string | null;
  /** X-SOX-Agent-ID, `--as`, SOX_AGENT_ID. */
  readonly agent: string | null;
  /** X-SOX-Namespace, SOX_NAMESPACE. */
  readonly space: string | null;
  /** X-SOX-Client-Version and its kin. */
  readonly clientVersion: string | null;
  /** The call came over the owner-only Unix socket: the file's mode is the credential. */
  readonly isOwnerSocket: boolean;
  /** The caller asks to act as the owner and not as the agent named (`X-Synod-Owner: 1`). */
  readonly wantsOwner: boolean;
  /** A person sits there, says a program of the owner's (`X-Synod-Person: 1`). */
  readonly isPerson?: boolean;
  /** As plugins see it: `stdio` for the MCP bridge, `http` for everything else. */
  readonly transport: 'http' | 'stdio';
  readonly connectionId: string;
  /**
   * The door has its own way of knowing callers and has used it. True: the name is taken at its word,
   * unless it is somebody else's; false: nobody is let in, and that goes on the record.
   */
  readonly isVouchedFor?: boolean;
  /** The token came in the two halves of a browser's session. */
  readonly isSession?: true;
}

export interface Caller {
  readonly principal: Principal;
  readonly space: string;
  readonly transport: 'http' | 'stdio';
  readonly connectionId: string;
  readonly clientVersion: string | null;
  /** What it writes first makes the space, if there is none of that name [SP3]. */
  readonly mayMakeSpace: boolean;
  /** Opened with the owner's credential, whatever agent it acts as. */
  readonly isOwner: boolean;
  /** The token that opened the door, so that revoking it closes it. */
  readonly tokenId: string | null;
  /** Its hash when it was looked at, so that a call that waited can be held to it again. */
  readonly tokenHash?: string;
  /** When it expires, if ever; milliseconds. */
  readonly tokenExpiresAt?: number;
  /** The credential as shown, for an `auth` plugin; never logged. */
  readonly credential: string | null;
  /** What the doors see of the agent; every call leaves its mark there. */
  readonly activity: Activity;
  /** How long authentication took, for `_meta`. */
  readonly authMs: number;
}

/** An auth plugin may have named somebody else; it gets that name and no more rights than any agent. */
export function actingCaller(caller: Caller, agentId: string | null): Caller {
  if (agentId === null || agentId === caller.principal.id) return caller;
  return {
    ...caller,
    principal: { id: agentId, kind: 'agent', tier: 'standard' },
    isOwner: false,
    tokenId: null,
  };
}
