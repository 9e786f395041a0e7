/**
 * Why a token was not let in. The door says the same of every token it refuses, so that strangers learn
 * nothing; its owner may look it up. The secret itself is never shown nor compared here.
 */
import { type DoctorHub, isRefused } from './canary.ts';

export interface TokenFate {
  readonly message: string;
  readonly remedy: string;
}

/** `from` says where the token stands: a variable, a file. */
export async function readTokenFate(
  hub: DoctorHub,
  token: string,
  from: string,
  nowMs: number = Date.now(),
): Promise<TokenFate> {
  const [, space, id] = /^syn_([a-z0-9_-]{1,64})\.([a-z0-9]+)\../.exec(token) ?? [];
  if (id === undefined) {
    return {
      message: `the token in ${from} is not accepted: it has not the form of a token`,
      remedy: `put a whole one there (synod token create AGENT), or remove it from ${from}`,
    };
  }
  const renew = `make a new one: synod token create AGENT, and put it into ${from}`;
  const listed = await hub.call(null, 'tokens.list', {});
  if (isRefused(listed)) {
    return { message: `the token ${id} in ${from} is not accepted`, remedy: renew };
  }
  const known = listed.answer.tokens.find(({ token_id }) => token_id === id);
  if (known === undefined) {
    const message = `the token ${id} in ${from} is not of this hub, or not of this space (it says ${space})`;
    return { message, remedy: renew };
  }
  const { revoked_at: revokedAt, expires_at: expiresAt, agent_id: agent } = known;
  if (typeof revokedAt === 'number') {
    const at = new Date(revokedAt * 1000).toISOString();
    return {
      message: `the token ${id} of ${agent} in ${from} was revoked at ${at}`,
      remedy: renew,
    };
  }
  if (typeof expiresAt === 'number' && expiresAt * 1000 <= nowMs) {
    const at = new Date(expiresAt * 1000).toISOString();
    return { message: `the token ${id} of ${agent} in ${from} ended at ${at}`, remedy: renew };
  }
  return {
    message: `the token ${id} in ${from} is known, but its secret is wrong, or it is used under another name than ${agent}`,
    remedy: `check SYNOD_AGENT and --as; else rotate it: synod token rotate ${id}`,
  };
}
