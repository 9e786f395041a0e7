/** Servers that lie, to show that a run can fail: what stands between agents and servers breaks one promise. */
import type { Chance } from '../../src/testing/chance.ts';
import type { Ask, Reply } from './ask.ts';

/**
 * Acknowledge and drop; store twice; give a claim that another has; exchange whatever is there; hand out a turn again; take a
 * second answer to a gate; take a step of a run and forget it.
 */
export const LIES = ['drop', 'twice', 'holder', 'exchange', 'turn', 'gate', 'step'] as const;
export type Lie = (typeof LIES)[number];

/** Of what could be lied about: three lies are soon told, and the truth is still what is mostly told. */
const SHARE = 0.2;
/** Then it is over, or whoever waits for the last turn would wait long. */
const TURNS_AGAIN = 4;

export function lieAbout(lie: Lie, ask: Ask, chance: Chance, onLie: () => void): Ask {
  let seq = 0;
  let begun: Reply | null = null;
  let again = 0;
  return async (server, agent, operation, input, timeoutMs) => {
    const isLie = chance.isLikely(SHARE);
    const { url, copy } = server;
    if (lie === 'drop' && operation === 'send' && isLie && url !== null) {
      onLie();
      return { kind: 'done', body: { seq: seq + 1 }, copy };
    }
    if (lie === 'step' && operation === 'workflows.record' && isLie && url !== null) {
      onLie();
      return { kind: 'done', body: {}, copy };
    }
    const reply = await ask(server, agent, operation, input, timeoutMs);
    if (operation === 'send' && reply.kind === 'done') {
      seq = reply.body.seq;
      const { idempotency_key: _, ...again } = input as { idempotency_key?: string };
      if (lie === 'twice' && isLie) {
        const second = await ask(server, agent, operation, again, timeoutMs);
        if (second.kind === 'done') onLie();
      }
    }
    if (lie === 'turn' && operation === 'turns.take' && reply.kind === 'done') {
      if (reply.body.turn !== null) begun = reply;
      else if (begun !== null && again++ < TURNS_AGAIN) {
        onLie();
        return begun;
      }
    }
    const isRefused = reply.kind === 'refused';
    if (lie === 'gate' && operation === 'gates.decide' && isRefused) {
      if (reply.reason === 'gate.ended') onLie();
      return { kind: 'done', body: {}, copy };
    }
    if (lie === 'holder' && isRefused && reply.reason === 'claim.held') {
      onLie();
      return { kind: 'done', body: { claim: { epoch: undefined } }, copy };
    }
    if (lie === 'exchange' && isRefused && reply.reason === 'context.version') {
      const { if_version: _, idempotency_key: __, ...blind } = input as Record<string, unknown>;
      const written = await ask(server, agent, operation, blind, timeoutMs);
      if (written.kind === 'done') onLie();
      return written;
    }
    return reply;
  };
}
