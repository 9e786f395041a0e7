/**
 * A client of the hub that a command is for, over its socket where it has one. After a break it looks
 * again where the hub is, because a restarted one may listen elsewhere.
 */
import type { Client, Socket } from '../client/index.ts';
import { checkProof, isProved } from '../client/node/proof.ts';
import { type Globals, resolveTarget, type Target } from '../client/node/target.ts';

/** Half a minute between two attempts would look like an end. */
const RECONNECT_MS_MAX = 2_000;

export async function openClient(globals: Globals, isPerson: boolean): Promise<Client> {
  const [{ connect }, { parseAddress }, { WebSocket }] = await Promise.all([
    import('../client/index.ts'),
    import('../client/address.ts'),
    import('ws'),
  ]);
  const first = resolveTarget(globals);
  const dial = ({ url, socketPath, token, agent, space }: Target): Socket => {
    const credential = {
      token: token ?? undefined,
      agent: agent ?? undefined,
      space: space ?? undefined,
      isPerson,
    };
    const { socket, protocols } = parseAddress(url.href, credential);
    const place = socketPath === null ? socket : `ws+unix:${socketPath}:/ws`;
    return new WebSocket(place, [...protocols]);
  };
  const locate = (): Target => {
    try {
      return resolveTarget(globals);
    } catch {
      // Stopped, and hub.json with it: where it was is the best guess until it is back.
      return first;
    }
  };
  if (first.mustProve) await checkProof(first);
  return connect({
    url: first.url.href,
    openSocket() {
      const target = locate();
      if (!target.mustProve || isProved(target)) return dial(target);
      // The next attempt finds it proved, or this is not our hub.
      void checkProof(target).catch(() => {});
      throw new Error('the hub has yet to prove that it is the one');
    },
    reconnect: { maxMs: RECONNECT_MS_MAX },
  });
}
