/**
 * The link to a program that speaks JSON-RPC: calls with deadlines, its notices and requests, and an end that
 * every running turn is told. A bad line is one event: of the turn, when one runs, else of the client [VC4].
 */
import { createLineRpc, type LineRpc, type Params } from '../../../vendor/line-rpc.ts';
import { brief } from '../../../vendor/spoken.ts';
import type { ProgramPlan } from '../plan-program.ts';
import type { AgentClientOptions } from './agent-client.ts';
import { asClientError, callWithin, openClientLink, tell } from './client-link.ts';
import type { TurnStream } from './turn-stream.ts';

export interface RpcLink {
  readonly rpc: LineRpc;
  call(method: string, params: object, withinMs?: number): Promise<Params>;
  /** The first call: a program that does not answer it is ended, nobody has it yet. */
  greet(method: string, params: object, withinMs?: number): Promise<Params>;
  /** Why the program ended, when it has. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

export interface RpcLinkEvents {
  onNotice(method: string, params: Params): void;
  onRequest(rpc: LineRpc, method: string, params: Params): Promise<unknown>;
  /** Those that run now. */
  turns(): readonly TurnStream[];
  onEnded(): void;
}

export function openRpcLink(
  options: AgentClientOptions,
  vendor: string,
  plan: ProgramPlan,
  { onNotice, onRequest, turns, onEnded }: RpcLinkEvents,
): RpcLink {
  const link = openClientLink(options, vendor, plan, (line) => rpc.hear(line));
  const rpc = createLineRpc({
    write: (text) => link.write(text),
    onNotice,
    onRequest: (method, params) => onRequest(rpc, method, params),
    onText(text) {
      const line = brief(text);
      const [only, ...others] = turns();
      if (only !== undefined && others.length === 0) only.push({ type: 'bad_line', line });
      else tell(options, { type: 'bad_line', line });
    },
  });
  void link.ended.then((reason) => {
    onEnded();
    rpc.end(reason);
    for (const turn of turns()) turn.end('failed', reason);
  });
  async function call(method: string, params: object, withinMs?: number): Promise<Params> {
    try {
      return await callWithin(rpc, method, params, withinMs);
    } catch (error) {
      throw asClientError(error);
    }
  }
  return {
    rpc,
    call,
    async greet(method, params, withinMs) {
      try {
        return await call(method, params, withinMs);
      } catch (error) {
        await link.close();
        throw error;
      }
    },
    ended: link.ended,
    close: () => link.close(),
  };
}
